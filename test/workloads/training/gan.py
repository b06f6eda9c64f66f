"""Trains a GAN to draw points of a ring of Gaussians, after PyTorch's DCGAN tutorial."""

import argparse
import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_ring(count, modes, points, generator):
    """Each sample: `points` points around the same one of the modes."""
    angles = 2 * torch.pi * torch.randint(modes, (count, 1), generator=generator) / modes
    centres = torch.stack([angles.cos(), angles.sin()], dim=-1)
    return (centres + 0.05 * torch.randn(count, points, 2, generator=generator)).flatten(1)


def mlp(sizes, last=None):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


class Generator(nn.Module):
    def __init__(self, latent, width, outputs):
        super().__init__()
        self.latent = latent
        self.main = mlp([latent, width, width, outputs])

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.main = mlp([inputs, width, width, 1])

    def forward(self, samples):
        return self.main(samples).squeeze(1)


class Trainer:
    def __init__(self, generator, discriminator, args):
        self.generator, self.discriminator, self.device = generator, discriminator, args.device
        self.optimizer_g = torch.optim.Adam(generator.parameters(), lr=args.lr, betas=(0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=args.lr, betas=(0.5, 0.999))
        self.criterion = nn.BCEWithLogitsLoss()
        self.history = []

    def train_discriminator(self, real, fake):
        ones = torch.ones(len(real), device=self.device)
        loss = self.criterion(self.discriminator(real), ones)
        loss = loss + self.criterion(self.discriminator(fake.detach()), 1 - ones)
        self.optimizer_d.zero_grad()
        loss.backward()
        self.optimizer_d.step()
        return loss

    def train_generator(self, fake):
        loss = self.criterion(self.discriminator(fake), torch.ones(len(fake), device=self.device))
        self.optimizer_g.zero_grad()
        loss.backward()
        self.optimizer_g.step()
        return loss

    def train_epoch(self, epoch, loader):
        for (real,) in loader:
            real = real.to(self.device)
            noise = torch.randn(len(real), self.generator.latent, device=self.device)
            fake = self.generator(noise)
            d_loss = self.train_discriminator(real, fake)
            g_loss = self.train_generator(fake)
            fooled = torch.sigmoid(self.discriminator(self.generator(noise))).mean()  # after the update
            self.history.append({"epoch": epoch, "d_loss": d_loss.item(), "g_loss": g_loss.item(), "fooled": fooled})
        last = self.history[-len(loader) :]
        mean = {name: round(sum(entry[name] for entry in last) / len(last), 3) for name in ("d_loss", "g_loss")}
        fooled = round(sum(entry["fooled"].item() for entry in last) / len(last), 3)
        print(f"epoch {epoch}:", json.dumps(mean | {"fooled": fooled}), flush=True)

    @torch.no_grad()
    def spread(self, count):
        """How far the drawn points lie from the centre of the ring: 1 is right."""
        noise = torch.randn(count, self.generator.latent, device=self.device)
        return self.generator(noise).view(count, -1, 2).norm(dim=-1).mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--samples", type=int, default=12_800)
    parser.add_argument("--points", type=int, default=32)
    parser.add_argument("--latent", type=int, default=16)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    ring = make_ring(args.samples, 8, args.points, torch.Generator().manual_seed(args.seed))
    loader = DataLoader(TensorDataset(ring), args.batch_size, shuffle=True, drop_last=True)
    generator = Generator(args.latent, args.width, 2 * args.points).to(args.device)
    discriminator = Discriminator(2 * args.points, args.width).to(args.device)
    trainer = Trainer(generator, discriminator, args)
    for epoch in range(args.epochs):
        trainer.train_epoch(epoch, loader)
    print(f"spread: {trainer.spread(1024):.3f}")


if __name__ == "__main__":
    main()
