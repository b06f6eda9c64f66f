"""Online learning that reports metrics over the last 150 batches and over everything (binned) with torchmetrics.
Report: https://github.com/Lightning-AI/torchmetrics/issues/3294
Class: moving-window
"""
import torch
from torch import nn
from torchmetrics.aggregation import MeanMetric
from torchmetrics.classification import BinaryAUROC, BinaryConfusionMatrix
from torchmetrics.wrappers import Running


class OnlineLearner:
    def __init__(self, window=150):
        self.model = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 1)).to("cuda")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.recent = Running(BinaryAUROC(thresholds=200), window=window).to("cuda")
        self.overall = BinaryConfusionMatrix().to("cuda")
        self.loss = MeanMetric().to("cuda")

    def observe(self, x, y):
        logits = self.model(x).squeeze(1)
        probs = logits.detach().sigmoid()
        self.recent.update(probs, y)  # prequential: test first, then train
        self.overall.update(probs, y)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y.float())
        self.loss.update(loss.detach())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    torch.manual_seed(59)
    learner = OnlineLearner()
    direction = torch.randn(32, device="cuda")
    for step in range(400):
        direction += 0.05 * torch.randn(32, device="cuda")
        x = torch.randn(64, 32, device="cuda")
        y = (x @ direction + torch.randn(64, device="cuda") > 0).long()
        learner.observe(x, y)
        if step % 80 == 79:
            print(f"step {step}: AUROC {learner.recent.compute().item():.3f}, loss {learner.loss.compute().item():.3f}")
    print(learner.overall.compute().tolist())


if __name__ == "__main__":
    main()
