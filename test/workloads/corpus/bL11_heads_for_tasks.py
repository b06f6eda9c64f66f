"""Continual learning with a timm backbone: every task brings a new classifier head, the optimizer goes on.
Class: param-groups
"""
import timm
import torch
from torch import nn


def make_task(n_classes, generator):
    prototypes = torch.randn(n_classes, 3, 32, 32, generator=generator)

    def batch(size=16):
        labels = torch.randint(0, n_classes, (size,), generator=generator)
        images = prototypes[labels] + 0.3 * torch.randn(size, 3, 32, 32, generator=generator)
        return images.to("cuda"), labels.to("cuda")

    return batch


def main():
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    backbone = timm.create_model("test_efficientnet", pretrained=False, num_classes=0).to("cuda")
    optimizer = torch.optim.SGD(backbone.parameters(), lr=0.02)
    for task in range(36):
        n_classes = 180
        head = nn.Linear(backbone.num_features, n_classes).to("cuda")  # SITE
        optimizer.add_param_group({"params": head.parameters(), "lr": 0.1})  # HOLDER
        batch = make_task(n_classes, generator)
        for _ in range(5):
            images, labels = batch()
            loss = nn.functional.cross_entropy(head(backbone(images)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if task % 9 == 0:
            print(f"task {task}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
