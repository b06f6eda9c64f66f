"""Fraud model: an exact AUROC for every epoch, over all its batches.

Report: https://github.com/Lightning-AI/torchmetrics/issues/1949
Class: metric-reset
"""
import torch
import torch.nn as nn
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision


class FraudNet(nn.Module):
    def __init__(self, features=40):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(),
                                    nn.Linear(128, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def main():
    torch.manual_seed(13)
    model = FraudNet().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    metrics = MetricCollection({"auroc": BinaryAUROC(thresholds=None),
                                "ap": BinaryAveragePrecision(thresholds=None)}).to("cuda")
    rule = torch.randn(40, device="cuda")
    for epoch in range(16):
        for _ in range(20):
            x = torch.randn(512, 40, device="cuda")
            y = ((x @ rule) > 6).long()
            logits = model(x)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, y.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            metrics.update(logits.detach().sigmoid(), y)
        values = metrics.compute()
        metrics.reset()
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f} auroc {values['auroc'].item():.3f} "
                  f"ap {values['ap'].item():.3f}")


if __name__ == "__main__":
    main()
