"""Trains a small convolutional network to tell coloured shapes apart, and validates on one batch at a time while it does."""

import argparse
import itertools
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

CLASSES = 6


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def make_dataset(count, size, generator):
    """A bright square on noise; its class is its colour and whether it lies in the upper half."""
    labels = torch.randint(CLASSES, (count,), generator=generator)
    images = 0.5 * torch.randn(count, 3, size, size, generator=generator)
    for image, label in zip(images, labels.tolist()):
        side = size // 4
        column = int(torch.randint(size - side, (1,), generator=generator))
        row = int(torch.randint(size // 2 - side, (1,), generator=generator)) + (size // 2 if label >= 3 else 0)
        image[label % 3, row : row + side, column : column + side] += 2.0
    return TensorDataset(images, labels)


class Block(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(Block(3, width), Block(width, 2 * width), Block(2 * width, 4 * width))
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.LazyLinear(CLASSES))

    def forward(self, images):
        return self.head(self.features(images))


def train(model, loader, val_loader, criterion, optimizer, scheduler, args):
    val_batches = itertools.cycle(val_loader)
    running_loss, val_loss, seen, val_seen = 0.0, 0.0, 0, 0
    for epoch in range(args.epochs):
        model.train()
        for step, (images, labels) in enumerate(loader, start=1):
            images, labels = images.to(args.device), labels.to(args.device)
            loss = criterion(model(images), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * images.size(0)
            seen += images.size(0)

            model.eval()
            images, labels = next(val_batches)
            images, labels = images.to(args.device), labels.to(args.device)
            val_loss += criterion(model(images), labels) * images.size(0)
            val_seen += images.size(0)
            model.train()
            if step % args.log_every == 0:
                print(f"epoch {epoch} step {step}: train {running_loss / seen:.3f} val {val_loss / val_seen:.3f}", flush=True)
        scheduler.step()


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct = 0
    for images, labels in loader:
        correct += (model(images.to(device)).argmax(dim=1) == labels.to(device)).sum().item()
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--images", type=int, default=2400)
    parser.add_argument("--image-size", type=int, default=20)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--log-every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    seed_everything(args.seed)

    generator = torch.Generator().manual_seed(args.seed)
    dataset = make_dataset(args.images, args.image_size, generator)
    train_set, val_set = random_split(dataset, [0.8, 0.2], generator=generator)
    loader = DataLoader(train_set, args.batch_size, shuffle=True, drop_last=True, generator=generator)
    val_loader = DataLoader(val_set, args.batch_size)

    model = Classifier(args.width).to(args.device)
    model(torch.zeros(2, 3, args.image_size, args.image_size, device=args.device))  # gives the lazy layer its size
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    train(model, loader, val_loader, criterion, optimizer, scheduler, args)
    print(f"accuracy: {evaluate(model, val_loader, args.device):.3f}")


if __name__ == "__main__":
    main()
