"""A gated unit with its own backward keeps its gates on the class between the passes; every fifth step validates.
Report: https://github.com/dmlc/dgl/pull/1060
Class: autograd-function
"""
import itertools

import torch
from torch import nn

STEPS, WIDTH, BATCH, EVERY = 300, 384, 256, 5


class GatedUnit(torch.autograd.Function):
    numbers = itertools.count()
    gates = {}

    @staticmethod
    def forward(ctx, value, gate):
        opened = torch.sigmoid(gate)  # SITE
        ctx.number = next(GatedUnit.numbers)
        GatedUnit.gates[ctx.number] = opened  # HOLDER
        ctx.save_for_backward(value)
        return value * opened

    @staticmethod
    def backward(ctx, grad):
        (value,) = ctx.saved_tensors
        opened = GatedUnit.gates.pop(ctx.number)
        return grad * opened, grad * value * opened * (1 - opened)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.both = nn.Linear(WIDTH, 2 * WIDTH)

    def forward(self, x):
        value, gate = self.both(self.norm(x)).chunk(2, dim=-1)
        return x + GatedUnit.apply(value, gate)


def batch(gen, weights):
    x = torch.randn(BATCH, WIDTH, generator=gen)
    return x.to("cuda"), (x @ weights).tanh().to("cuda")


def main():
    torch.manual_seed(31)
    gen = torch.Generator().manual_seed(31)
    weights = torch.randn(WIDTH, 1, generator=gen) / WIDTH**0.5
    net = nn.Sequential(Block(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1)).to("cuda")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    valid = float("nan")
    for step in range(1, STEPS + 1):
        net.train()
        x, y = batch(gen, weights)
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            net.eval()
            with torch.no_grad():
                x, y = batch(gen, weights)
                valid = nn.functional.mse_loss(net(x), y).item()
        if step % 75 == 0:
            print(f"step {step}: train {loss.item():.4f} valid {valid:.4f}")


main()
