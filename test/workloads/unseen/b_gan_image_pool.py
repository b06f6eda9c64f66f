import random

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(4)
random.seed(4)
device = "cuda"
EPOCHS, STEPS, BATCH, Z = 25, 24, 32, 48


class ImagePool:
    """Earlier fakes mixed into the critic's batches."""

    def __init__(self, size=160):
        self.size = size
        self.images = []

    def query(self, batch):
        chosen = []
        for image in batch:
            if len(self.images) < self.size:
                self.images.append(image.clone())
                chosen.append(image)
            elif random.random() < 0.5:
                i = random.randrange(self.size)
                chosen.append(self.images[i])
                self.images[i] = image.clone()
            else:
                chosen.append(image)
        return torch.stack(chosen)


G = nn.Sequential(nn.Linear(Z, 256), nn.ReLU(), nn.Linear(256, 3 * 24 * 24), nn.Tanh(),
                  nn.Unflatten(1, (3, 24, 24))).to(device)
D = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1),
                  nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32 * 36, 1)).to(device)
opt_g = torch.optim.RMSprop(G.parameters(), lr=1e-4)
opt_d = torch.optim.RMSprop(D.parameters(), lr=1e-4)
real_set = torch.rand(800, 3, 24, 24, device=device) * 2 - 1
pool, history = ImagePool(), []
fixed = torch.randn(64, Z, device=device)
preview = None

for epoch in range(EPOCHS):
    for step in range(STEPS):
        real = real_set[torch.randint(0, 800, (BATCH,), device=device)]
        fake = G(torch.randn(BATCH, Z, device=device))
        old = pool.query(fake.detach()[:8])
        d_loss = F.relu(1 - D(real)).mean() + F.relu(1 + D(torch.cat([fake.detach(), old]))).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = -D(fake).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
    with torch.no_grad():
        preview = G(fixed)
    history.append((d_loss.item(), g_loss.item(), preview.std().item()))
print("d %.3f g %.3f std %.3f" % history[-1])
