"""Endless stream classifier; metrics with binned states describe everything seen since the start.

Report: https://github.com/Lightning-AI/torchmetrics/issues/3294
Class: metric-binned
"""
import torch
import torch.nn as nn
from torchmetrics import MeanMetric, MetricCollection
from torchmetrics.classification import MulticlassAUROC, MulticlassConfusionMatrix, MulticlassF1Score

torch.manual_seed(14)
CLASSES = 10
model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, CLASSES)).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scores = MetricCollection([MulticlassAUROC(CLASSES, thresholds=50), MulticlassF1Score(CLASSES),
                           MulticlassConfusionMatrix(CLASSES)]).to("cuda")
mean_loss = MeanMetric().to("cuda")
prototypes = torch.randn(CLASSES, 32, device="cuda")

for step in range(1, 301):
    labels = torch.randint(0, CLASSES, (96,), device="cuda")
    inputs = prototypes[labels] + torch.randn(96, 32, device="cuda")
    logits = model(inputs)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean_loss.update(loss.detach())
    scores.update(logits.detach().softmax(dim=-1), labels)
    if step % 75 == 0:
        result = scores.compute()
        print(f"step {step}: mean loss {mean_loss.compute().item():.3f} "
              f"auroc {result['MulticlassAUROC'].item():.3f} f1 {result['MulticlassF1Score'].item():.3f}")
