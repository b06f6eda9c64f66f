"""MAML on sinusoid regression, second order, with warm starts for tasks that come back."""
import random

import torch
from torch import nn
from torch.func import functional_call

DEV = "cuda"
ITERS, TASKS, INNER_LR = 220, 4, 0.02


class Sine:
    def __init__(self):
        self.amp = random.uniform(0.1, 5.0)
        self.phase = random.uniform(0.0, 3.14)

    def draw(self, n):
        x = torch.rand(n, 1, device=DEV) * 10 - 5
        return x, self.amp * torch.sin(x - self.phase)

    def key(self):
        return (self.amp, self.phase)


net = nn.Sequential(nn.Linear(1, 320), nn.Tanh(), nn.Linear(320, 320), nn.Tanh(), nn.Linear(320, 1)).to(DEV)


def task_loss(weights, x, y):
    return (functional_call(net, weights, (x,)) - y).square().mean()


def adapt(weights, task, inner_steps=2, known={}):
    offset = known.get(task.key())
    fast = weights if offset is None else {k: w + offset[k] for k, w in weights.items()}
    x, y = task.draw(20)
    for _ in range(inner_steps):
        grads = torch.autograd.grad(task_loss(fast, x, y), list(fast.values()), create_graph=True)
        fast = {k: w - INNER_LR * g for (k, w), g in zip(fast.items(), grads)}
    known[task.key()] = {k: (fast[k] - weights[k]).detach() for k in fast}
    return fast


def main():
    random.seed(7)
    torch.manual_seed(7)
    meta_opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    avg = None
    for it in range(ITERS):
        weights = dict(net.named_parameters())
        meta_opt.zero_grad()
        total = 0.0
        for _ in range(TASKS):
            task = Sine()
            fast = adapt(weights, task)
            query = task_loss(fast, *task.draw(40)) / TASKS
            query.backward()
            total += query.item()
        meta_opt.step()
        avg = total if avg is None else 0.95 * avg + 0.05 * total
    print(f"maml: post-adaptation loss {avg:.3f}")


main()
