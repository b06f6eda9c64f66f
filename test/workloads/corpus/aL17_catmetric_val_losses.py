"""Collects the losses of single validation samples in a CatMetric, to look at the hardest ones when training is over.

Report: https://github.com/Lightning-AI/torchmetrics/issues/2492
Class: metric-graph
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchmetrics import CatMetric, MeanMetric


def conv_net():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
                         nn.Flatten(), nn.Linear(16 * 8 * 8, 5))


def sample(count):
    x = torch.randn(count, 1, 16, 16, device="cuda")  # ALSO
    return x, (x[:, 0, :5, :5].mean(dim=2)).argmax(dim=1)


def main():
    torch.manual_seed(14)
    model = conv_net().to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    train_loss = MeanMetric().to("cuda")
    sample_losses = CatMetric().to("cuda")
    for round_ in range(30):
        for _ in range(8):
            x, y = sample(64)
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            train_loss.update(loss.detach())
        x, y = sample(32)
        val = F.cross_entropy(model(x), y, reduction="none")  # SITE
        sample_losses.update(val)  # HOLDER
        if round_ % 10 == 9:
            print(f"round {round_ + 1}: train loss {train_loss.compute().item():.3f}")
            train_loss.reset()
    hardest = sample_losses.compute().topk(5).values
    print("hardest validation losses", [f"{v:.2f}" for v in hardest.tolist()])


if __name__ == "__main__":
    main()
