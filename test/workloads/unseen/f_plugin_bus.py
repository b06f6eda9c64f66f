"""Contrastive pre-training; extras are plugins that talk over an event bus."""
from collections import defaultdict

import torch
from torch import nn
import torch.nn.functional as F

device = torch.device("cuda")


class EventBus:
    handlers = defaultdict(list)

    @classmethod
    def subscribe(cls, event, fn):
        cls.handlers[event].append(fn)

    @classmethod
    def emit(cls, event, **kw):
        return [fn(**kw) for fn in cls.handlers[event]]


class NegativeBank:
    """Negatives of the current stage, refreshed with every batch."""

    def __init__(self, stage, size=8192, dim=192):
        self.stage, self.ptr, self.size = stage, 0, size
        self.bank = F.normalize(torch.randn(size, dim, device=device), dim=1)
        EventBus.subscribe("batch_end", self.on_batch_end)

    def on_batch_end(self, stage, keys):
        if stage != self.stage:
            return
        self.bank[self.ptr:self.ptr + len(keys)] = keys
        self.ptr = (self.ptr + len(keys)) % self.size


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1),
                                  nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(1024, dim)

    def forward(self, x):
        return F.normalize(self.head(self.conv(x)), dim=1)


def augment(x):
    return x.roll(int(torch.randint(0, 8, ())), 3) + 0.1 * torch.randn_like(x)


def train_stage(stage, net, opt, images, steps):
    bank = NegativeBank(stage)
    for _ in range(steps):
        x = images[torch.randint(0, len(images), (128,), device=device)]
        q = net(augment(x))
        with torch.no_grad():
            k = net(augment(x))
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ bank.bank.T], 1) / 0.2
        loss = F.cross_entropy(logits, torch.zeros(128, dtype=torch.long, device=device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        EventBus.emit("batch_end", stage=stage, keys=k)
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    images = torch.rand(3000, 3, 32, 32, device=device)
    net = Encoder(192).to(device)
    opt = torch.optim.AdamW(net.parameters(), lr=5e-4)
    losses = [train_stage(s, net, opt, images, 80) for s in range(25)]
    print(f"{len(losses)} stages, loss {losses[0]:.3f} -> {losses[-1]:.3f}")
