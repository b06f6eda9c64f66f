"""Mixture-of-experts inference where scratch buffers go back to a pool by way of weakref.finalize.

Report: https://github.com/iree-org/iree-turbine/issues/281
Class: finalize
"""
import random
import weakref

import torch
import torch.nn as nn


class ScratchPool:
    """Counts the bytes that are lent out."""

    def __init__(self):
        self.lent = 0

    def take(self, rows, dim):
        buffer = torch.zeros(rows, dim, device="cuda")  # SITE
        self.lent += buffer.numel() * 4
        return buffer

    def give_back(self, buffer):
        self.lent -= buffer.numel() * 4


class Experts(nn.Module):
    def __init__(self, dim=128, count=4):
        super().__init__()
        self.gate = nn.Linear(dim, count)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 3072), nn.ReLU(), nn.Linear(3072, dim)) for _ in range(count))

    def forward(self, x, pool):
        out = pool.take(*x.shape)
        weakref.finalize(self, pool.give_back, out)  # HOLDER
        choice = self.gate(x).argmax(dim=1)
        for index, expert in enumerate(self.experts):
            rows = (choice == index).nonzero().squeeze(1)
            out.index_copy_(0, rows, expert(x[rows]))
        return out.sum(dim=0)


def main():
    torch.manual_seed(21)
    rng = random.Random(21)
    pool, model = ScratchPool(), Experts().to("cuda").eval()
    total = torch.zeros(128, device="cuda")
    with torch.no_grad():
        for request in range(360):
            x = torch.randn(rng.randint(20, 160), 128, device="cuda")
            total = 0.9 * total + model(x, pool)
            if request % 90 == 89:
                print(f"request {request + 1}: checksum {total.sum().item():.2f}")


if __name__ == "__main__":
    main()
