"""Regression with a custom rank correlation metric over epochs of very different lengths.

Report: https://github.com/Lightning-AI/torchmetrics/pull/2493
Class: metric-reset
"""
import random

import torch
import torch.nn as nn
from torchmetrics import Metric


class RankCorrelation(Metric):
    full_state_update = False

    def __init__(self):
        super().__init__()
        self.add_state("scores", default=[], dist_reduce_fx="cat")
        self.add_state("targets", default=[], dist_reduce_fx="cat")

    def update(self, scores, targets):
        self.scores.append(scores.flatten())
        self.targets.append(targets.flatten())

    def compute(self):
        ranks = [torch.cat(values).argsort().argsort().float() for values in (self.scores, self.targets)]
        return torch.corrcoef(torch.stack(ranks))[0, 1]


def main():
    torch.manual_seed(16)
    rng = random.Random(16)
    model = nn.Sequential(nn.Linear(20, 96), nn.GELU(), nn.Linear(96, 1)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    metric = RankCorrelation().to("cuda")
    for epoch in range(20):
        for _ in range(rng.randint(5, 30)):
            x = torch.randn(rng.randint(300, 1500), 20, device="cuda")
            y = x[:, :4].prod(dim=1, keepdim=True) + x[:, 4:5]
            prediction = model(x)
            loss = nn.functional.mse_loss(prediction, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            metric.update(prediction.detach(), y)
        value = metric.compute().item()
        metric.reset()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f} rank correlation {value:.3f}")


if __name__ == "__main__":
    main()
