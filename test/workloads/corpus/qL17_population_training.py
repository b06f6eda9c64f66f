"""Population based training of small regressors: the better half is copied and perturbed each generation."""
import copy
import random

import torch
from torch import nn

POPULATION = 6


class Member:
    def __init__(self, net, lr, parent=None):
        self.net = net
        self.lr = lr
        self.parent = parent  # HOLDER
        self.score = float("inf")

    def train(self, x, y, steps):
        opt = torch.optim.SGD(self.net.parameters(), lr=self.lr)
        for _ in range(steps):
            opt.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            opt.step()
        opt.zero_grad()

    def spawn(self, rng):
        net = copy.deepcopy(self.net)  # SITE
        lr = min(0.1, max(0.01, self.lr * rng.choice([0.8, 1.0, 1.25])))
        return Member(net, lr, parent=self)

    @torch.no_grad()
    def evaluate(self, x, y):
        self.score = nn.functional.mse_loss(self.net(x), y).item()


def make_net():
    return nn.Sequential(nn.Linear(12, 160), nn.Tanh(), nn.Linear(160, 160), nn.Tanh(), nn.Linear(160, 1)).to("cuda")


def trend(member, depth=3):
    if member.parent is None or depth == 0:
        return 0.0
    return (member.parent.score - member.score) + trend(member.parent, depth - 1)


def main():
    torch.manual_seed(77)
    rng = random.Random(77)
    x = torch.randn(256, 12, device="cuda")
    y = torch.sin(x[:, :1]) * x[:, 1:2]
    population = [Member(make_net(), 10 ** rng.uniform(-2.5, -1.0)) for _ in range(POPULATION)]
    for generation in range(1, 101):
        for member in population:
            member.train(x[:192], y[:192], steps=3)
            member.evaluate(x[192:], y[192:])
        population.sort(key=lambda m: m.score)
        best = population[0]
        if generation % 20 == 0:
            print(f"generation {generation}: best {best.score:.4f} lr {best.lr:.4f} trend {trend(best):.4f}")
        survivors = population[: POPULATION // 2]
        population = [m.spawn(rng) for m in survivors for _ in range(2)]


main()
