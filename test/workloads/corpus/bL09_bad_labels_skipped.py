"""Trains a small timm network on labels of which some are broken; broken batches are skipped and reported at the end.
Report: https://github.com/pytorch/pytorch/issues/10348
Class: exception
"""
import timm
import torch
from torch import nn

NUM_CLASSES = 12


class BadBatch(ValueError):
    pass


def make_batch(generator):
    images = torch.randn(4, 3, 40, 40, generator=generator)
    labels = torch.randint(0, NUM_CLASSES, (4,), generator=generator)
    if torch.rand(1, generator=generator).item() < 0.16:
        labels[0] = -1
    return images, labels


def train_step(model, optimizer, images, labels):
    images, labels = images.to("cuda"), labels.to("cuda")  # ALSO
    logits = model(images)  # SITE
    if (labels < 0).any():
        raise BadBatch(f"label {labels.min().item()} out of range")
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(3)
    model = timm.create_model("test_resnet", pretrained=False, num_classes=NUM_CLASSES).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    failures, running = [], 0.0
    for step in range(160):
        images, labels = make_batch(generator)
        try:
            loss = train_step(model, optimizer, images, labels)
        except BadBatch as error:
            failures.append((step, error))  # HOLDER
            continue
        running = loss if step == 0 else 0.9 * running + 0.1 * loss
        if step % 40 == 0:
            print(f"step {step}: loss {running:.3f}")
    print(f"{len(failures)} batches skipped, the first: {failures[0][1]} (step {failures[0][0]})")


if __name__ == "__main__":
    main()
