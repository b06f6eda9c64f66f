"""Multilabel tagging with exact average precision and AUROC in torchmetrics, computed and reset after each epoch.
Report: https://github.com/Lightning-AI/torchmetrics/issues/1949
Class: metric-state
"""
import torch
from torch import nn
from torchmetrics import MetricCollection
from torchmetrics.classification import MultilabelAUROC, MultilabelAveragePrecision

NUM_LABELS = 12


def main():
    torch.manual_seed(57)
    model = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, NUM_LABELS)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    metrics = MetricCollection(
        {"ap": MultilabelAveragePrecision(NUM_LABELS), "auroc": MultilabelAUROC(NUM_LABELS)}
    ).to("cuda")
    directions = torch.randn(30, NUM_LABELS, device="cuda")
    for epoch in range(18):
        for _ in range(20):
            x = torch.randn(256, 30, device="cuda")
            y = (x @ directions + 2.0 * torch.randn(256, NUM_LABELS, device="cuda") > 3.0).long()
            logits = model(x)
            loss = nn.functional.binary_cross_entropy_with_logits(logits, y.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            metrics.update(logits.detach(), y)
        values = {name: value.item() for name, value in metrics.compute().items()}
        metrics.reset()
        if epoch % 3 == 0:
            print(f"epoch {epoch}: AP {values['ap']:.3f} AUROC {values['auroc']:.3f}")


if __name__ == "__main__":
    main()
