import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
device = "cuda"
EPOCHS, STEPS, BATCH, ZDIM = 20, 12, 24, 64


def generator():
    return nn.Sequential(
        nn.Linear(ZDIM, 64 * 4 * 4), nn.ReLU(), nn.Unflatten(1, (64, 4, 4)),
        nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh())


def discriminator():
    return nn.Sequential(
        nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 1))


class ProgressLogger:
    def __init__(self):
        self.lines = []
        self.pages = {}

    def on_epoch_end(self, epoch, d_loss, g_loss, page):
        self.lines.append((epoch, d_loss, g_loss))
        self.pages[f"samples/{epoch:03d}"] = page  # HOLDER


G, D = generator().to(device), discriminator().to(device)
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
real_set = torch.rand(1024, 3, 32, 32, device=device) * 2 - 1
fixed_z = torch.randn(128, ZDIM, device=device)
logger = ProgressLogger()
ones, zeros = torch.ones(BATCH, 1, device=device), torch.zeros(BATCH, 1, device=device)

for epoch in range(EPOCHS):
    for _ in range(STEPS):
        real = real_set[torch.randint(0, 1024, (BATCH,), device=device)]
        fake = G(torch.randn(BATCH, ZDIM, device=device))
        d_loss = F.binary_cross_entropy_with_logits(D(real), ones) \
            + F.binary_cross_entropy_with_logits(D(fake.detach()), zeros)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = F.binary_cross_entropy_with_logits(D(fake), ones)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
    with torch.no_grad():
        page = (G(fixed_z) + 1) / 2  # SITE
    logger.on_epoch_end(epoch, d_loss.item(), g_loss.item(), page)

last = logger.lines[-1]
print(f"epoch {last[0]} d {last[1]:.3f} g {last[2]:.3f}")
