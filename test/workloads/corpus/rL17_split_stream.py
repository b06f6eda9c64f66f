"""One stream of batches feeds the training and, split off by tee, the drift monitor that looks at it now and then.
Report: https://github.com/kipoi/kipoi/pull/277
Class: tee
"""
import itertools

import torch
from torch import nn

STEPS, BATCH, FEATURES = 240, 512, 256


def batches(seed):
    gen = torch.Generator().manual_seed(seed)
    truth = torch.randn(FEATURES, 8, generator=gen)
    drift = torch.zeros(FEATURES)
    while True:
        drift += 0.01 * torch.randn(FEATURES, generator=gen)
        x = torch.randn(BATCH, FEATURES, generator=gen) + drift
        y = (x @ truth).argmax(1)
        yield x.to("cuda", copy=True), y.to("cuda")  # SITE


class DriftMonitor:
    """Compares the newest moments of the features to those at the start."""

    def __init__(self, stream):
        self.stream = stream
        self.first = None

    def look(self):
        x, _ = next(self.stream)
        moments = torch.stack([x.mean(0), x.std(0)])
        if self.first is None:
            self.first = moments
        return float((moments - self.first).abs().max())


def accuracy(net, x, y):
    with torch.no_grad():
        return float((net(x).argmax(1) == y).float().mean())


def main():
    torch.manual_seed(77)
    net = nn.Sequential(
        nn.BatchNorm1d(FEATURES), nn.Linear(FEATURES, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
        nn.Linear(256, 8),
    ).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    training, watched = itertools.tee(batches(seed=77))  # HOLDER
    monitor = DriftMonitor(watched)
    drift = monitor.look()
    for step, (x, y) in enumerate(itertools.islice(training, STEPS), start=1):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 12 == 0:
            drift = monitor.look()
        if step % 60 == 0:
            print(f"step {step}: loss {loss.item():.4f} accuracy {accuracy(net, x, y):.3f} drift {drift:.3f}")


main()
