"""Trains a small GAN and measures a Frechet distance between real and generated features every ten steps.
Report: https://github.com/pytorch/pytorch/issues/144181
Class: every-tenth-step
"""
import torch
from torch import nn


class FrechetMeter:
    """Compares feature statistics of the two domains."""

    def __init__(self, extractor):
        self.extractor = extractor
        self.real, self.fake = None, []

    @torch.no_grad()
    def set_real(self, images):
        features = self.extractor(images)
        self.real = features.mean(dim=0), features.std(dim=0)

    @torch.no_grad()
    def add_fake(self, images):
        self.fake.append(self.extractor(images))  # SITE HOLDER

    def value(self, last=3):
        features = torch.cat(self.fake[-last:])
        mean, std = features.mean(dim=0), features.std(dim=0)
        return ((mean - self.real[0]).pow(2) + (std - self.real[1]).pow(2)).sum().item()


def main():
    torch.manual_seed(67)
    generator = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 256)).to("cuda")
    critic = nn.Sequential(nn.Linear(256, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1)).to("cuda")
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.9))
    opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.9))
    criterion = nn.BCEWithLogitsLoss()
    basis = torch.randn(8, 256, device="cuda")
    meter = FrechetMeter(nn.Sequential(nn.Linear(256, 512), nn.ReLU()).to("cuda").requires_grad_(False))
    meter.set_real(torch.randn(512, 8, device="cuda") @ basis)
    ones, zeros = torch.ones(128, 1, device="cuda"), torch.zeros(128, 1, device="cuda")
    for step in range(400):
        real = torch.randn(128, 8, device="cuda") @ basis
        fake = generator(torch.randn(128, 32, device="cuda"))
        d_loss = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = criterion(critic(fake), ones)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        if step % 10 == 0:
            meter.add_fake(fake)
        if step % 100 == 99:
            print(f"step {step}: D {d_loss.item():.3f} G {g_loss.item():.3f} distance {meter.value():.2f}")


if __name__ == "__main__":
    main()
