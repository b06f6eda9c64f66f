"""GPU image augmentation (barrel distortion + rotation) feeding a small classifier."""
import math
import random
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
STEPS, BATCH, CLASSES = 240, 32, 10


class WarpTables:
    """Sampling grids by (size, angle, strength); the least recently used goes first."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.grids = OrderedDict()

    def get(self, size, angle, strength):
        key = (size, angle, strength)
        if key in self.grids:
            self.grids.move_to_end(key)
            return self.grids[key]
        lin = torch.linspace(-1, 1, size, device=DEV)
        y, x = torch.meshgrid(lin, lin, indexing="ij")
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        radius = 1 + strength / 10 * (x * x + y * y)
        grid = torch.stack([(c * x - s * y) * radius, (s * x + c * y) * radius], dim=-1)
        self.grids[key] = grid
        if len(self.grids) > self.capacity:
            self.grids.popitem(last=False)
        return grid


def synth_images(labels, size):
    lin = torch.linspace(0, 6.28, size, device=DEV)
    freq = (labels + 1).view(-1, 1, 1).float()
    wave = torch.sin(freq * lin.view(1, 1, -1)) * torch.cos(freq * lin.view(1, -1, 1))
    img = wave.unsqueeze(1).expand(-1, 3, -1, -1)
    return img + 0.3 * torch.randn(len(labels), 3, size, size, device=DEV)


def build_net():
    layers, width = [], 3
    for out in (32, 64, 128, 128):
        layers += [nn.Conv2d(width, out, 3, stride=2, padding=1), nn.BatchNorm2d(out), nn.ReLU()]
        width = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, CLASSES))


def main():
    random.seed(5)
    torch.manual_seed(5)
    tables, net = WarpTables(capacity=60), build_net().to(DEV)
    opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
    hits = torch.zeros((), device=DEV)
    for step in range(STEPS):
        size = random.choice((192, 224, 256, 288, 320))
        labels = torch.randint(0, CLASSES, (BATCH,), device=DEV)
        grid = tables.get(size, random.randrange(-30, 31, 2), random.randrange(0, 4))
        images = F.grid_sample(synth_images(labels, size), grid.expand(BATCH, -1, -1, -1), align_corners=False)
        out = net(images)
        loss = F.cross_entropy(out, labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (out.argmax(1) == labels).float().mean().detach()
    print(f"mean train accuracy {hits.item() / STEPS:.3f} grids {len(tables.grids)}")


main()
