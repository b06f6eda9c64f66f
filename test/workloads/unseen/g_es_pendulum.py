"""Evolution strategies on a batched pendulum; mirrored noise is drawn again from its seed."""
import functools
import math
import torch

torch.manual_seed(8)
DEV = "cuda"
GENERATIONS, PAIRS, ENVS, STEPS, HID = 26, 12, 64, 40, 256
SIZES = [(3, HID), (HID, HID), (HID, 1)]
DIM = sum(a * b for a, b in SIZES)


@functools.lru_cache(maxsize=None)
def direction(seed):
    gen = torch.Generator(device=DEV).manual_seed(seed)
    return torch.randn(DIM, generator=gen, device=DEV)


def unpack(theta):
    out, at = [], 0
    for a, b in SIZES:
        out.append(theta[at:at + a * b].view(a, b) / math.sqrt(a))
        at += a * b
    return out


def rollout(theta):
    w = unpack(theta)
    angle = torch.linspace(-3, 3, ENVS, device=DEV)
    vel = torch.zeros(ENVS, device=DEV)
    cost = torch.zeros((), device=DEV)
    for _ in range(STEPS):
        obs = torch.stack([angle.cos(), angle.sin(), vel], 1)
        u = torch.tanh(torch.tanh(torch.tanh(obs @ w[0]) @ w[1]) @ w[2])[:, 0] * 2
        vel = (vel + 0.05 * (15 * angle.sin() + 3 * u)).clamp(-8, 8)
        angle = angle + 0.05 * vel
        cost += (1 - angle.cos()).mean() + 0.1 * vel.square().mean() + 0.001 * u.square().mean()
    return -cost.item() / STEPS


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    r = [0.0] * len(values)
    for place, i in enumerate(order):
        r[i] = place / (len(values) - 1) - 0.5
    return r


theta = torch.zeros(DIM, device=DEV)
sigma, lr = 0.1, 0.05
best = -1e9
for gen in range(GENERATIONS):
    seeds = [gen * PAIRS + k for k in range(PAIRS)]
    scores = []
    for s in seeds:
        scores.append(rollout(theta + sigma * direction(s)))
        scores.append(rollout(theta - sigma * direction(s)))
    shaped = ranks(scores)
    grad = torch.zeros_like(theta)
    for k, s in enumerate(seeds):
        grad += (shaped[2 * k] - shaped[2 * k + 1]) * direction(s)
    theta = theta + lr * grad / (PAIRS * sigma)
    best = max(best, max(scores))
print(f"best return {best:.3f}")
