import copy
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(5)
device = "cuda"
TRIALS, STEPS = 24, 30


@dataclass
class Trial:
    lr: float
    loss: float
    optimizer: torch.optim.Optimizer


class LRFinder:
    def __init__(self, base, low, high):
        self.base = base
        self.lrs = [low * (high / low) ** (i / (TRIALS - 1)) for i in range(TRIALS)]
        self.trials = []

    def try_lr(self, lr, x, y):
        net = copy.deepcopy(self.base)  # SITE
        opt = torch.optim.Adam(net.parameters(), lr=lr)
        total = 0.0
        for step in range(STEPS):
            idx = torch.randint(0, len(x), (64,), device=device)
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()  # SITE
            opt.step()  # SITE
            if step >= STEPS - 10:
                total += loss.item()
        self.trials.append(Trial(lr, total / 10, opt))  # HOLDER

    def run(self, x, y):
        for lr in self.lrs:
            self.try_lr(lr, x, y)
        return min(self.trials, key=lambda t: t.loss).lr


base = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512),
                     nn.ReLU(), nn.Linear(512, 20)).to(device)
x = torch.randn(5000, 128, device=device)
y = (x @ torch.randn(128, 20, device=device)).argmax(1)

finder = LRFinder(base, 1e-5, 3e-2)
best_lr = finder.run(x, y)

opt = torch.optim.Adam(base.parameters(), lr=best_lr)
for step in range(100):
    idx = torch.randint(0, 5000, (64,), device=device)
    loss = F.cross_entropy(base(x[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"lr {best_lr:.5f} loss {loss.item():.3f}")
