"""Least-squares GAN on synthetic textures, with the CycleGAN image pool for the discriminator."""
import random

import torch
from torch import nn

DEV = "cuda"
STEPS = 900
BATCH = 16


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64 * 16 * 16)
        self.up1 = nn.ConvTranspose2d(64, 32, 4, 2, 1)
        self.up2 = nn.ConvTranspose2d(32, 3, 4, 2, 1)

    def forward(self, z):
        h = torch.relu(self.fc(z)).view(-1, 64, 16, 16)
        h = torch.relu(self.up1(h))
        return torch.tanh(self.up2(h))


class ImagePool:
    """Shows the discriminator a mix of new and older fakes (Shrivastava et al.)."""

    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, batch):
        out = []
        for img in batch.unsqueeze(1):
            if len(self.images) < self.size:
                self.images.append(img)
                out.append(img)
            elif random.random() < 0.5:
                i = random.randrange(self.size)
                out.append(self.images[i])
                self.images.insert(i, img)
            else:
                out.append(img)
        return torch.cat(out)


def real_images(n):
    phase = torch.rand(n, 3, 1, 1, device=DEV) * 6.28
    grid = torch.linspace(0, 12.6, 64, device=DEV)
    return torch.sin(grid.view(1, 1, 64, 1) + phase) * torch.cos(grid.view(1, 1, 1, 64) - phase)


random.seed(0)
torch.manual_seed(0)
gen = Generator().to(DEV)
disc = nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1),
                     nn.LeakyReLU(0.2), nn.Conv2d(64, 1, 4, 2, 1)).to(DEV)
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-4, betas=(0.5, 0.999))
pool = ImagePool(50)
for step in range(STEPS):
    fake = gen(torch.randn(BATCH, 64, device=DEV))
    loss_g = (disc(fake) - 1).square().mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    shown = pool.query(fake.detach())
    loss_d = (disc(real_images(BATCH)) - 1).square().mean() + disc(shown).square().mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
print(f"lsgan: g {loss_g.item():.3f} d {loss_d.item():.3f}")
