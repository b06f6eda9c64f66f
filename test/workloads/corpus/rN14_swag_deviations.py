"""SWAG: the newest deviations of the weights from their mean, with a moving average of the compiled network beside it.
Report: https://github.com/wjmaddox/swa_gaussian/issues/22
Class: window
"""
from collections import deque

import torch
from torch import nn

STEPS, RANK, EVERY, START = 420, 16, 9, 60


class Swag:
    def __init__(self, net, rank):
        self.net = net
        self.mean = self.flat().clone()
        self.square = self.mean.square()
        self.count = 1
        self.deviations = deque(maxlen=rank)

    def flat(self):
        return torch.cat([p.detach().flatten() for p in self.net.parameters()])

    def collect(self):
        weights = self.flat()
        self.mean += (weights - self.mean) / (self.count + 1)
        self.square += (weights.square() - self.square) / (self.count + 1)
        self.count += 1
        self.deviations.append(weights - self.mean)

    def sample(self, into):
        variance = (self.square - self.mean.square()).clamp_min(1e-10)
        weights = self.mean + (variance / 2).sqrt() * torch.randn_like(variance)
        if len(self.deviations) > 1:
            scale = (2 * (len(self.deviations) - 1)) ** 0.5
            weights = weights + sum(d * torch.randn((), device="cuda") for d in self.deviations) / scale
        at = 0
        for p in into.parameters():
            p.data.copy_(weights[at:at + p.numel()].view_as(p))
            at += p.numel()
        return into


def build():
    return nn.Sequential(
        nn.Linear(48, 320), nn.SiLU(), nn.Linear(320, 320), nn.SiLU(), nn.Linear(320, 320), nn.SiLU(),
        nn.Linear(320, 1),
    ).to("cuda")


def data(gen, size):
    x = torch.rand(size, 48, generator=gen) * 2 - 1
    y = (3 * x[:, :2]).sin().sum(1, keepdim=True) + 0.1 * torch.randn(size, 1, generator=gen)
    return x.to("cuda"), y.to("cuda")


def main():
    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(14)
    net, probe = build(), build()
    average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))
    fast = torch.compile(net, backend="aot_eager")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    swag = None
    for step in range(1, STEPS + 1):
        x, y = data(gen, 128)
        loss = nn.functional.mse_loss(fast(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(net)
        if step >= START and step % EVERY == 0:
            swag = swag or Swag(net, RANK)
            swag.collect()
        if step % 105 == 0:
            x, y = data(gen, 256)
            with torch.no_grad():
                spread = torch.stack([swag.sample(probe)(x) for _ in range(6)]).std(0).mean()
                error = nn.functional.mse_loss(average(x), y)
            print(f"step {step}: loss {loss.item():.4f} averaged {error.item():.4f} spread {spread.item():.4f}")


main()
