"""Runs a random hyper-parameter search and tracks a confusion matrix for every trial."""
import random

import torch
from torch import nn
from torchmetrics import MetricTracker
from torchmetrics.classification import MulticlassConfusionMatrix

CLASSES = 120


def make_data(n):
    x = torch.randn(n, 16, device="cuda")
    y = ((x[:, :3].sum(1) * 9).long() + 1000) % CLASSES
    return x, y


def train_trial(width, lr, data, epochs):
    x, y = data
    net = nn.Sequential(nn.Linear(16, width), nn.Tanh(), nn.Linear(width, CLASSES)).to("cuda")
    opt = torch.optim.RMSprop(net.parameters(), lr=lr)
    for _ in range(epochs):
        for xb, yb in zip(x.split(128), y.split(128)):
            opt.zero_grad()
            nn.functional.cross_entropy(net(xb), yb).backward()
            opt.step()
    return net


def accuracy(matrix):
    return (matrix.diagonal().sum() / matrix.sum()).item()


def main():
    torch.manual_seed(17)
    rng = random.Random(17)
    train, test = make_data(512), make_data(256)
    tracker = MetricTracker(MulticlassConfusionMatrix(num_classes=CLASSES), maximize=True)
    tracker.to("cuda")
    best = (0.0, None)
    for trial in range(75):
        width, lr = rng.choice([16, 32, 64]), 10 ** rng.uniform(-3.5, -1.5)
        net = train_trial(width, lr, train, epochs=4)
        tracker.increment()  # SITE HOLDER
        with torch.no_grad():
            for xb, yb in zip(test[0].split(128), test[1].split(128)):
                tracker.update(net(xb), yb)
        score = accuracy(tracker[-1].confmat)
        if score > best[0]:
            best = (score, (width, round(lr, 5)))
        if trial % 15 == 14:
            print(f"trial {trial + 1}: best accuracy {best[0]:.4f} with {best[1]}")


if __name__ == "__main__":
    main()
