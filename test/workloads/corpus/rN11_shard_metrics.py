"""Live evaluation over twelve shards; each shard's ranking metrics collect until its day is over, at times of its own.
Report: https://github.com/NRCan/geo-deep-learning/issues/582
Class: metric-reset
"""
import random

import torch
from torch import nn
from torchmetrics import MeanMetric, MetricCollection
from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision

ROUNDS, SHARDS, FEATURES = 300, 12, 40


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


class Shard:
    """One region: its traffic, its metrics and how many batches its day has."""

    def __init__(self, number):
        self.number = number
        self.day = 9 + 2 * number
        self.batches = 0
        self.taste = torch.randn(FEATURES, generator=torch.Generator().manual_seed(number)) * 0.4 + 1
        self.metrics = MetricCollection({"area": BinaryAUROC(), "precision": BinaryAveragePrecision()}).to("cuda")
        self.loss = MeanMetric().to("cuda")
        self.days = []

    def traffic(self, gen, size):
        x = torch.randn(size, FEATURES, generator=gen)
        y = (x @ self.taste + 4 * torch.randn(size, generator=gen) > 2).long()
        return x.to("cuda"), y.to("cuda")

    def observe(self, logits, y):
        self.metrics.update(logits.sigmoid(), y)
        self.loss.update(nn.functional.binary_cross_entropy_with_logits(logits, y.float()))
        self.batches += 1
        if self.batches == self.day:
            self.close_day()

    def close_day(self):
        values = self.metrics.compute()
        self.days.append((float(values["area"]), float(values["precision"]), float(self.loss.compute())))
        self.metrics.reset()
        self.loss.reset()
        self.batches = 0


def main():
    torch.manual_seed(66)
    rng, gen = random.Random(66), torch.Generator().manual_seed(66)
    ranker = Ranker().to("cuda")
    optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-3)
    shards = [Shard(number) for number in range(SHARDS)]
    for number in range(1, ROUNDS + 1):
        for shard in rng.sample(shards, 3):
            x, y = shard.traffic(gen, rng.randint(1500, 6000))
            ranker.eval()
            with torch.no_grad():
                shard.observe(ranker(x), y)
        ranker.train()
        loss = nn.functional.binary_cross_entropy_with_logits(ranker(x[:256]), y[:256].float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 75 == 0:
            days = [day for shard in shards for day in shard.days[-1:]]
            area = sum(day[0] for day in days) / max(1, len(days))
            print(f"round {number}: {sum(len(shard.days) for shard in shards)} days, area of the last ones {area:.4f}")


main()
