"""Instance discrimination with a non-parametric memory bank, one entry per image batch."""
import random

import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
SHARDS, PER_SHARD, DIM, EPOCHS = 150, 256, 256, 8


class ConvEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(4))
        self.proj = nn.Linear(64 * 16, DIM)

    def forward(self, x):
        return F.normalize(self.proj(self.conv(x).flatten(1)), dim=1)


class Bank:
    def __init__(self, momentum=0.5):
        self.momentum = momentum
        self.entries = {}

    @torch.no_grad()
    def update(self, shard, feats):
        old = self.entries.get(shard)
        new = feats if old is None else self.momentum * old + (1 - self.momentum) * feats
        self.entries[shard] = F.normalize(new, dim=1)

    def negatives(self, shard, n):
        others = [s for s in self.entries if s != shard]
        return torch.cat([self.entries[s] for s in random.sample(others, min(n, len(others)))])


def images(shard):
    gen = torch.Generator(device=DEV).manual_seed(shard)
    base = torch.rand(PER_SHARD, 3, 8, 8, generator=gen, device=DEV)
    img = F.interpolate(base, size=(32, 32), mode="bilinear")
    return img + 0.1 * torch.randn_like(img)


def main():
    random.seed(4)
    torch.manual_seed(4)
    net = ConvEmbed().to(DEV)
    opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, [5, 7], gamma=0.1)
    bank = Bank()
    for epoch in range(EPOCHS):
        order = random.sample(range(SHARDS), SHARDS)
        hits = 0.0
        for shard in order:
            f = net(images(shard))
            if epoch > 0:
                pool = torch.cat([bank.entries[shard], bank.negatives(shard, 8)])
                logits = f @ pool.T / 0.1
                y = torch.arange(PER_SHARD, device=DEV)
                loss = F.cross_entropy(logits, y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                hits += (logits.argmax(1) == y).float().mean().item() / SHARDS
            bank.update(shard, f.detach())
        if epoch > 0:
            sched.step()
    print(f"instance discrimination: loss {loss.item():.3f} hits {hits:.3f}")


main()
