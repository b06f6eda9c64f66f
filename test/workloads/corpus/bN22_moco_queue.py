"""MoCo on synthetic pictures: a momentum encoder and a queue of 512 keys that serve as negatives.
Report: https://github.com/KevinMusgrave/pytorch-metric-learning/issues/142
Class: memory-bank
"""
import collections
import copy

import torch
import torch.nn.functional as F
from torch import nn

QUEUE_BATCHES = 64


def encoder():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 64),
    )


def augment(images):
    shift = int(torch.randint(-3, 4, ()))
    return torch.roll(images, shift, dims=3) + 0.2 * torch.randn_like(images)


def main():
    torch.manual_seed(127)
    query_net = encoder().to("cuda")
    key_net = copy.deepcopy(query_net).requires_grad_(False)
    optimizer = torch.optim.SGD(query_net.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    negatives = collections.deque(maxlen=QUEUE_BATCHES)
    prototypes = torch.randn(32, 3, 28, 28, device="cuda")
    for step in range(330):
        images = prototypes[torch.randint(0, 32, (8,), device="cuda")]
        images = images + 0.5 * torch.randn_like(images)
        q = F.normalize(query_net(augment(images)), dim=1)
        with torch.no_grad():
            for k, p in zip(key_net.parameters(), query_net.parameters()):
                k.mul_(0.99).add_(p, alpha=0.01)
            key = F.normalize(key_net(augment(images)), dim=1)
        logits = (q * key).sum(dim=1, keepdim=True)
        if negatives:
            logits = torch.cat([logits, q @ torch.cat(list(negatives)).T], dim=1)
        loss = F.cross_entropy(logits / 0.1, torch.zeros(8, dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        negatives.append(key)
        if step % 66 == 0:
            print(f"step {step}: loss {loss.item():.3f}, {8 * len(negatives)} keys")


if __name__ == "__main__":
    main()
