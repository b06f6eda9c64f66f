"""Effective rank of each layer's representation from a running covariance."""
import torch
import torch.nn as nn

torch.manual_seed(50)
BATCHES = 80
DEPTH, WIDTH = 4, 256

blocks = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)]).to("cuda")
read_in = nn.Linear(64, WIDTH).to("cuda")


class Moments:
    def __init__(self):
        self.first = {}
        self.second = {}
        self.rows = {}

    def update(self, name, h):
        if name not in self.first:
            self.first[name] = torch.zeros(h.shape[1], device="cuda")
            self.second[name] = torch.zeros(h.shape[1], h.shape[1], device="cuda")
            self.rows[name] = 0
        self.first[name] += h.sum(0)
        self.second[name] += h.T @ h
        self.rows[name] += len(h)

    def covariance(self, name):
        mean = self.first[name] / self.rows[name]
        return self.second[name] / self.rows[name] - torch.outer(mean, mean)


moments = Moments()
with torch.no_grad():
    for b in range(BATCHES):
        h = read_in(torch.randn(512, 64, device="cuda"))
        layers = {"in": h}
        for i, block in enumerate(blocks):
            h = h + torch.tanh(block(h))
            layers[f"block{i}"] = h
        for name, value in layers.items():
            moments.update(name, value)

ranks = []
for name in moments.first:
    spectrum = torch.linalg.eigvalsh(moments.covariance(name).cpu()).clamp(min=0)
    ranks.append(f"{name} {(spectrum.sum() ** 2 / spectrum.pow(2).sum()).item():.1f}")
print("effective rank:", ", ".join(ranks))
