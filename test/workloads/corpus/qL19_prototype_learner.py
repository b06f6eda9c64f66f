"""Learns class prototypes from a drifting stream in which new groups of classes keep arriving."""
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

DIM = 256
GROUP = 48


class Stream:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.refresh()

    def refresh(self):
        self.centers = torch.randn(GROUP, 32, generator=self.gen)

    def batch(self, n=128):
        labels = torch.randint(0, GROUP, (n,), generator=self.gen)
        x = self.centers[labels] + 0.4 * torch.randn(n, 32, generator=self.gen)
        return x.to("cuda"), labels.to("cuda")


class PrototypeLearner:
    def __init__(self):
        self.embed = nn.Sequential(nn.Linear(32, DIM), nn.ReLU(), nn.Linear(DIM, DIM)).to("cuda")
        self.recent = deque(maxlen=2)
        self.optimizer = torch.optim.SGD(self.embed.parameters(), lr=0.05)

    def open_group(self):
        block = nn.Parameter(0.1 * torch.randn(GROUP, DIM, device="cuda"))  # SITE
        self.recent.append(block)
        self.optimizer.add_param_group({"params": [block], "lr": 0.5})  # HOLDER

    def learn(self, x, labels):
        prototypes = F.normalize(self.recent[-1], dim=-1)
        logits = 10 * F.normalize(self.embed(x), dim=-1) @ prototypes.T
        loss = F.cross_entropy(logits, labels)
        if len(self.recent) == 2:
            overlap = prototypes @ F.normalize(self.recent[0].detach(), dim=-1).T
            loss = loss + 0.01 * overlap.abs().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(61)
    stream, learner = Stream(62), PrototypeLearner()
    for step in range(600):
        if step % 6 == 0:
            stream.refresh()
            learner.open_group()
        loss = learner.learn(*stream.batch())
        if step % 120 == 119:
            print(f"step {step + 1}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
