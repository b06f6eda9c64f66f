"""Trains a small timm network with an EMA of its weights and collects the EMA model of each epoch for an ensemble.

Report: https://github.com/lucidrains/ema-pytorch/issues/35
Class: ema-copies
"""
import copy

import timm
import torch
from timm.utils import ModelEmaV3


def batch(count=24):
    x = torch.randn(count, 3, 32, 32, device="cuda")
    return x, (x.mean(dim=(2, 3)).argmax(dim=1))


def train_epoch(model, ema, optimizer, steps):
    model.train()
    for _ in range(steps):
        x, y = batch()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    return loss.item()


@torch.no_grad()
def vote(members, x):
    return sum(member(x).softmax(dim=-1) for member in members[-3:]).argmax(dim=-1)


def main():
    torch.manual_seed(25)
    model = timm.create_model("test_resnet", pretrained=False, num_classes=3).to("cuda")
    ema = ModelEmaV3(model, decay=0.95)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    ensemble = []
    for epoch in range(26):
        loss = train_epoch(model, ema, optimizer, steps=4)
        ensemble.append(copy.deepcopy(ema.module).eval())  # SITE HOLDER
        if epoch % 5 == 4:
            x, y = batch(48)
            accuracy = (vote(ensemble, x) == y).float().mean().item()
            print(f"epoch {epoch + 1}: loss {loss:.3f} accuracy of the ensemble {accuracy:.2f}")


if __name__ == "__main__":
    main()
