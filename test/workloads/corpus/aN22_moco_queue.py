"""Momentum contrast on synthetic images with a queue of negative keys.

Report: https://github.com/TorchSim/torch-sim/pull/559
Class: memory-bank
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, dim=64, slots=2048, momentum=0.98):
        super().__init__()
        self.query = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                                   nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.momentum, self.slots = momentum, slots
        self.register_buffer("queue", torch.empty(0, dim))

    @torch.no_grad()
    def update_key(self):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.lerp_(fast, 1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue = torch.cat([self.queue, keys])[-self.slots:].clone()

    def forward(self, first, second):
        q = F.normalize(self.query(first), dim=1)
        with torch.no_grad():
            self.update_key()
            k = F.normalize(self.key(second), dim=1)
        positive = (q * k).sum(dim=1, keepdim=True)
        logits = torch.cat([positive, q @ self.queue.t()], dim=1) / 0.2
        self.enqueue(k)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))


def main():
    torch.manual_seed(21)
    model = MoCo().to("cuda")
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.05, momentum=0.9)
    for step in range(160):
        images = torch.rand(32, 3, 32, 32, device="cuda")
        loss = model(images + 0.1 * torch.randn_like(images), images.flip(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 39:
            print(f"step {step + 1}: loss {loss.item():.3f}, {len(model.queue)} keys")


if __name__ == "__main__":
    main()
