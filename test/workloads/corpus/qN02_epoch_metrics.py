"""Trains a two-class model and evaluates it every epoch with a collection of exact metrics."""
import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics import CatMetric, MeanMetric, MetricCollection
from torchmetrics.classification import BinaryAccuracy, BinaryAUROC, BinaryAveragePrecision

DEVICE = "cuda"
EPOCHS, STEPS, BATCH = 14, 30, 512


def batches(seed, count):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        x = torch.randn(BATCH, 10, generator=gen)
        y = (x[:, 0] * x[:, 1] + 0.3 * torch.randn(BATCH, generator=gen) > 0).long()
        yield x.to(DEVICE), y.to(DEVICE)


class Evaluator:
    def __init__(self):
        self.metrics = MetricCollection(
            {"acc": BinaryAccuracy(), "auroc": BinaryAUROC(), "ap": BinaryAveragePrecision()}
        ).to(DEVICE)
        self.margins = CatMetric().to(DEVICE)

    @torch.no_grad()
    def __call__(self, net, seed):
        for x, y in batches(seed, 10):
            logits = net(x).squeeze(-1)
            self.metrics.update(logits, y)
            self.margins.update(logits.abs())
        report = {name: value.item() for name, value in self.metrics.compute().items()}
        report["margin"] = self.margins.compute().median().item()
        self.metrics.reset()
        self.margins.reset()
        return report


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1)).to(DEVICE)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    train_scores = CatMetric().to(DEVICE)
    train_loss = MeanMetric().to(DEVICE)
    evaluate = Evaluator()
    reports = []
    for epoch in range(EPOCHS):
        for x, y in batches(epoch, STEPS):
            logits = net(x).squeeze(-1)
            loss = F.binary_cross_entropy_with_logits(logits, y.float())
            opt.zero_grad()
            loss.backward()
            opt.step()
            train_scores.update(torch.sigmoid(logits).detach())
            train_loss.update(loss.detach())
        reports.append(evaluate(net, 1000))
        if epoch % 3 == 1:
            shown = " ".join(f"{k} {v:.4f}" for k, v in sorted(reports[-1].items()))
            print(f"epoch {epoch}: loss {train_loss.compute():.4f} spread {train_scores.compute().std():.4f} {shown}")
        train_scores.reset()
        train_loss.reset()
    print("best auroc", round(max(r["auroc"] for r in reports), 4))


main()
