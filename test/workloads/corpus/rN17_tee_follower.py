"""A tracker reads a stream of radar sweeps; a smoother reads the same stream by tee, at most 48 sweeps behind.
Report: https://github.com/pytorch/pytorch/issues/23900
Class: tee
"""
import itertools

import torch
from torch import nn

SWEEPS, RANGES, ANGLES, BEHIND = 300, 160, 320, 48


def sweeps(seed):
    gen = torch.Generator().manual_seed(seed)
    at, speed = torch.tensor([40.0, 60.0]), torch.tensor([0.3, 0.5])
    rows, columns = torch.arange(RANGES)[:, None], torch.arange(ANGLES)
    while True:
        at = at + speed + 0.2 * torch.randn(2, generator=gen)
        speed = torch.where((at < 10) | (at > torch.tensor([150.0, 310.0])), -speed, speed)
        blip = torch.exp(-((rows - at[0]).square() + (columns - at[1]).square()) / 18)
        echo = blip + 0.5 * torch.randn(RANGES, ANGLES, generator=gen)
        yield echo.to("cuda", copy=True), at.clone()


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 8, 7, stride=2, padding=3), nn.ReLU(), nn.Conv2d(8, 8, 5, padding=2), nn.ReLU(),
            nn.Conv2d(8, 1, 5, padding=2),
        )

    def forward(self, sweep):
        heat = self.net(sweep[None, None])[0, 0].flatten().softmax(0).view(RANGES // 2, ANGLES // 2)
        row = (heat.sum(1) * torch.arange(RANGES // 2, device="cuda")).sum()
        column = (heat.sum(0) * torch.arange(ANGLES // 2, device="cuda")).sum()
        return torch.stack([row, column]) * 2


def smooth(follower, count, background):
    """Takes the next sweeps of the lagging stream into the picture of what never moves."""
    for sweep, _ in itertools.islice(follower, count):
        background.mul_(0.97).add_(sweep, alpha=0.03)


def main():
    torch.manual_seed(18)
    detector = Detector().to("cuda")
    optimizer = torch.optim.Adam(detector.parameters(), lr=2e-3)
    leader, follower = itertools.tee(sweeps(seed=18))
    background = torch.zeros(RANGES, ANGLES, device="cuda")
    lag, misses = 0, []
    for number, (sweep, truth) in enumerate(itertools.islice(leader, SWEEPS), start=1):
        lag += 1
        found = detector(sweep - background)
        loss = (found - truth.to("cuda")).square().mean() / 100
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        misses.append(float(loss.detach().sqrt()) * 10)
        if lag == BEHIND:
            smooth(follower, lag - 4, background)
            lag = 4
        if number % 60 == 0:
            print(f"sweep {number}: off by {sum(misses[-30:]) / 30:.1f} cells, {lag} sweeps behind")


main()
