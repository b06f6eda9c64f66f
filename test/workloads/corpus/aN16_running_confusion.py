"""Online learning under drift, judged by a confusion matrix over the last 60 batches.

Report: https://github.com/Lightning-AI/torchmetrics/issues/1738
Class: metric-window
"""
import torch
import torch.nn as nn
from torchmetrics.classification import MulticlassConfusionMatrix
from torchmetrics.wrappers import Running

CLASSES = 48


class DriftingTask:
    def __init__(self):
        self.centers = torch.randn(CLASSES, 24, device="cuda")

    def draw(self, count):
        self.centers += 0.02 * torch.randn_like(self.centers)
        labels = torch.randint(0, CLASSES, (count,), device="cuda")
        return self.centers[labels] + 0.5 * torch.randn(count, 24, device="cuda"), labels


def main():
    torch.manual_seed(15)
    task = DriftingTask()
    model = nn.Sequential(nn.Linear(24, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, CLASSES))
    model.to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    confusion = Running(MulticlassConfusionMatrix(num_classes=CLASSES), window=60).to("cuda")
    for step in range(240):
        x, y = task.draw(128)
        logits = model(x)
        confusion.update(logits.detach(), y)
        loss = nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 60 == 59:
            matrix = confusion.compute().float()
            accuracy = (matrix.trace() / matrix.sum()).item()
            print(f"step {step + 1}: loss {loss.item():.3f} recent accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
