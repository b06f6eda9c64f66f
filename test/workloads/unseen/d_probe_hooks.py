"""Nightly drift report: compare today's activations with a golden batch."""
import torch
from torch import nn
import torch.nn.functional as F

DEVICE = "cuda"
NIGHTS = 24
BATCHES = 90
BATCH = 192


def backbone():
    layers, width = [], 3
    for out in (32, 64, 128):
        layers += [nn.Conv2d(width, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(),
                   nn.Conv2d(out, out, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        width = out
    return nn.Sequential(*layers).to(DEVICE).eval()


def watch(model, golden, report):
    """Report how far each forward pass is from the golden activations."""
    centre = golden.mean((0, 2, 3))

    def compare(module, args, output):
        spread = golden.std((0, 2, 3)) + 1e-6
        report.append(((output.mean((0, 2, 3)) - centre) / spread).abs().mean().item())

    model.register_forward_hook(compare)


@torch.no_grad()
def main(model):
    scene = torch.randn(BATCH, 3, 64, 64, device=DEVICE)
    verdicts = []
    for night in range(NIGHTS):
        brightness = 1.0 + 0.02 * night
        activations = model(scene * brightness)
        report = []
        watch(model, activations, report)
        pooled = torch.zeros(128, device=DEVICE)
        for _ in range(BATCHES):
            images = torch.randn(BATCH, 3, 64, 64, device=DEVICE) * brightness
            pooled += F.adaptive_avg_pool2d(model(images), 1).flatten(1).mean(0)
        drift = sum(report) / len(report)
        verdicts.append((round(drift, 4), round(pooled.norm().item() / BATCHES, 4)))
    print(f"{NIGHTS} nights, first {verdicts[0]}, last {verdicts[-1]}")


torch.manual_seed(2)
extractor = backbone()
main(extractor)
