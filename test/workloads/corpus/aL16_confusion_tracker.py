"""Follows a confusion matrix over the epochs with torchmetrics' MetricTracker.

Class: metric-tracker
"""
import torch
import torch.nn as nn
from torchmetrics.classification import MulticlassConfusionMatrix
from torchmetrics.wrappers import MetricTracker

CLASSES = 128


def build():
    layers = [nn.Linear(32, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, CLASSES)]
    return nn.Sequential(*layers).to("cuda")


def diagonal_share(matrix):
    return (matrix.diagonal().sum() / matrix.sum().clamp(min=1)).item()


def main():
    torch.manual_seed(13)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    centers = torch.randn(CLASSES, 32, device="cuda")
    tracker = MetricTracker(MulticlassConfusionMatrix(num_classes=CLASSES).to("cuda"), maximize=True)

    for epoch in range(60):
        tracker.increment()  # SITE HOLDER
        for _ in range(5):
            y = torch.randint(0, CLASSES, (256,), device="cuda")
            x = centers[y] + 0.3 * torch.randn(256, 32, device="cuda")
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            tracker.update(logits.detach(), y)
        if epoch % 15 == 14:
            matrix = tracker.compute()  # ALSO
            print(f"epoch {epoch + 1}: loss {loss.item():.3f} diagonal {diagonal_share(matrix):.3f}")


if __name__ == "__main__":
    main()
