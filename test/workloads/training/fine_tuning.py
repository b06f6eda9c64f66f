"""Fine-tunes a network that was trained on another task: the first layers are frozen, gradients are accumulated, an average of the
weights is evaluated, and hooks follow how active each layer is."""

import argparse
import collections

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    """Points around the centres of their classes."""

    def __init__(self, count, width, classes, seed):
        generator = torch.Generator().manual_seed(seed)
        centres = torch.randn(classes, width, generator=generator)
        self.labels = torch.randint(classes, (count,), generator=generator)
        self.points = centres[self.labels] + 1.5 * torch.randn(count, width, generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.points[index], self.labels[index]


class Backbone(nn.Module):
    def __init__(self, inputs, width, layers):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(layers)
        )

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = x + layer(x)
        return x


class ActivationMonitor:
    """The mean activation of each layer, from forward hooks."""

    def __init__(self, backbone):
        self.means = collections.defaultdict(list)
        self.handles = [
            layer.register_forward_hook(self.hook(f"layer{number}")) for number, layer in enumerate(backbone.layers)
        ]

    def hook(self, name):
        def record(module, inputs, output):
            if module.training:
                self.means[name].append(output.abs().mean())

        return record

    def summary(self, last):
        return {name: sum(mean.item() for mean in means[-last:]) / last for name, means in self.means.items()}

    def close(self):
        for handle in self.handles:
            handle.remove()


class Average:
    """An exponential moving average of a model's weights."""

    def __init__(self, model, decay):
        self.decay = decay
        self.weights = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for name, value in model.state_dict().items():
            self.weights[name].lerp_(value, 1 - self.decay)


def pretrain(backbone, args):
    """Stands for weights that were downloaded."""
    head = nn.Linear(args.width, 20).to(args.device)
    optimizer = torch.optim.AdamW([*backbone.parameters(), *head.parameters()], lr=args.lr)
    for points, labels in DataLoader(Blobs(2_000, args.inputs, 20, args.seed), args.batch_size):
        loss = F.cross_entropy(head(backbone(points.to(args.device))), labels.to(args.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def finetune(model, loader, average, args):
    trained = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=args.lr, weight_decay=0.01)
    monitor = ActivationMonitor(model[0])
    for epoch in range(args.epochs):
        total = 0.0
        for number, (points, labels) in enumerate(loader, start=1):
            loss = F.cross_entropy(model(points.to(args.device)), labels.to(args.device))
            (loss / args.accumulate).backward()
            total += loss.item()
            if number % args.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
                average.update(model)
        active = " ".join(f"{name} {mean:.3f}" for name, mean in monitor.summary(len(loader)).items())
        print(f"epoch {epoch}: loss {total / len(loader):.3f} {active}", flush=True)
    monitor.close()


@torch.no_grad()
def evaluate(model, weights, loader, device):
    model.load_state_dict(weights)
    model.eval()
    right = sum((model(points.to(device)).argmax(dim=1) == labels.to(device)).sum().item() for points, labels in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--inputs", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    backbone = Backbone(args.inputs, args.width, args.layers).to(args.device)
    pretrain(backbone, args)
    backbone.stem.requires_grad_(False)
    model = nn.Sequential(backbone, nn.Linear(args.width, 8)).to(args.device)
    average = Average(model, decay=0.98)
    data = Blobs(5_000, args.inputs, 8, args.seed + 1)
    train_set, val_set = torch.utils.data.random_split(data, [4_000, 1_000])
    loader = DataLoader(train_set, args.batch_size, shuffle=True, drop_last=True)
    finetune(model, loader, average, args)
    print(f"accuracy: {evaluate(model, average.weights, DataLoader(val_set, 256), args.device):.3f}")


if __name__ == "__main__":
    main()
