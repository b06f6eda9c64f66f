"""Samples the posterior of a Bayesian network with Langevin dynamics and predicts with the samples it kept."""
import math
import random

import torch

DEVICE = "cuda"
SHAPES = [(8, 100), (100,), (100, 50), (50,), (50, 1), (1,)]


def forward(theta, x):
    h = torch.tanh(x @ theta[0] + theta[1])
    h = torch.tanh(h @ theta[2] + theta[3])
    return (h @ theta[4] + theta[5]).squeeze(-1)


class Reservoir:
    def __init__(self, capacity, seed):
        self.capacity = capacity
        self.rng = random.Random(seed)
        self.items = []
        self.offered = 0

    def offer(self, item):
        self.offered += 1
        if len(self.items) < self.capacity:
            self.items.append(item)
            return True
        place = self.rng.randrange(self.offered)
        if place < self.capacity:
            self.items[place] = item
            return True
        return False


class Chain:
    def __init__(self, x, y, step_size):
        self.x, self.y, self.step_size = x, y, step_size
        self.theta = [torch.randn(s, device=DEVICE) / math.sqrt(s[0]) for s in SHAPES]
        self.energies = []

    def energy(self, theta):
        prior = sum(t.pow(2).sum() for t in theta) * 0.5
        return 50.0 * (forward(theta, self.x) - self.y).pow(2).mean() + 0.1 * prior

    def advance(self):
        theta = [t.requires_grad_(True) for t in self.theta]
        energy = self.energy(theta)
        grads = torch.autograd.grad(energy, theta)
        noise = math.sqrt(2 * self.step_size * 0.01)
        self.theta = [
            (t - self.step_size * g + noise * torch.randn_like(t)).detach() for t, g in zip(theta, grads)
        ]
        self.energies.append(energy.item())
        return self.theta


torch.manual_seed(92)
x = torch.randn(1500, 8, device=DEVICE)
y = torch.sin(x[:, 0]) + 0.3 * x[:, 1]
chain = Chain(x[:1200], y[:1200], step_size=2e-3)
kept = Reservoir(16, seed=93)
for t in range(1, 601):
    state = chain.advance()
    if t > 60 and t % 2 == 0:
        kept.offer(state)
    if t % 120 == 0:
        with torch.no_grad():
            predictions = torch.stack([forward(theta, x[1200:]) for theta in kept.items])
        error = (predictions.mean(0) - y[1200:]).pow(2).mean().item()
        print(f"step {t}: energy {chain.energies[-1]:.3f} test error {error:.4f} offered {kept.offered}")
