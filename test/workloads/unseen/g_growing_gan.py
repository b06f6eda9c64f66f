"""A small progressive GAN: both nets get a block more every few epochs, up to 64x64."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
dev = "cuda"
EPOCHS, BATCHES, BATCH, LATENT, WIDTH, TOP = 28, 14, 32, 128, 128, 5


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(LATENT, WIDTH * 16)
        self.blocks = nn.ModuleList()
        self.rgb = nn.Conv2d(WIDTH, 3, 1)

    def forward(self, z):
        h = F.leaky_relu(self.base(z), 0.2).view(-1, WIDTH, 4, 4)
        for block in self.blocks:
            h = F.leaky_relu(block(F.interpolate(h, scale_factor=2)), 0.2)
        return torch.tanh(self.rgb(h))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.rgb = nn.Conv2d(3, WIDTH, 1)
        self.blocks = nn.ModuleList()
        self.out = nn.Linear(WIDTH * 16, 1)

    def forward(self, x):
        h = F.leaky_relu(self.rgb(x), 0.2)
        for block in reversed(self.blocks):
            h = F.avg_pool2d(F.leaky_relu(block(h), 0.2), 2)
        return self.out(h.flatten(1))


def grow(net, opt):
    block = nn.Conv2d(WIDTH, WIDTH, 3, padding=1).to(dev)
    net.blocks.append(block)
    opt.add_param_group({"params": block.parameters(), "lr": 2e-4})


def real_images(side):
    coarse = torch.randn(BATCH, 3, 4, 4, device=dev)
    return torch.tanh(F.interpolate(coarse, size=side, mode="bilinear", align_corners=False))


g, d = Generator().to(dev), Critic().to(dev)
opt_g = torch.optim.Adam(g.parameters(), lr=2e-4, betas=(0.0, 0.99))
opt_d = torch.optim.Adam(d.parameters(), lr=2e-4, betas=(0.0, 0.99))
for epoch in range(EPOCHS):
    if epoch and epoch % 4 == 0 and len(g.blocks) < TOP - 1:
        grow(g, opt_g)
        grow(d, opt_d)
    side = 4 * 2 ** len(g.blocks)
    sum_d = sum_g = 0.0
    for _ in range(BATCHES):
        fake = g(torch.randn(BATCH, LATENT, device=dev))
        loss_d = F.relu(1 - d(real_images(side))).mean() + F.relu(1 + d(fake.detach())).mean()
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
        loss_g = -d(g(torch.randn(BATCH, LATENT, device=dev))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        sum_d += loss_d.item()
        sum_g += loss_g.item()
print(f"side {side} critic {sum_d / BATCHES:.3f} generator {sum_g / BATCHES:.3f}")
