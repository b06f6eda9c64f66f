"""Hand-written GRU trained by truncated backpropagation on an endless signal."""
import math

import torch

DEVICE = "cuda"
STEPS = 6000
TRUNCATE = 60
BATCH, HIDDEN, INPUTS = 384, 768, 8
RATE = 0.5


class Cell:
    def __init__(self):
        scale = HIDDEN ** -0.5
        self.wx = torch.randn(INPUTS, 3 * HIDDEN, device=DEVICE) * 0.3
        self.wh = torch.randn(HIDDEN, 3 * HIDDEN, device=DEVICE) * scale
        self.bias = torch.zeros(3 * HIDDEN, device=DEVICE)
        self.readout = torch.randn(HIDDEN, INPUTS, device=DEVICE) * scale
        self.params = [self.wx, self.wh, self.bias, self.readout]
        for p in self.params:
            p.requires_grad_()

    def step(self, x, h):
        gx = (x @ self.wx + self.bias).chunk(3, dim=1)
        gh = (h @ self.wh).chunk(3, dim=1)
        reset = torch.sigmoid(gx[0] + gh[0])
        update = torch.sigmoid(gx[1] + gh[1])
        candidate = torch.tanh(gx[2] + reset * gh[2])
        return (1 - update) * h + update * candidate

    def descend(self, loss):
        grads = torch.autograd.grad(loss, self.params)
        norm = torch.stack([g.norm() for g in grads]).norm().clamp(min=1.0)
        with torch.no_grad():
            for p, g in zip(self.params, grads):
                p -= RATE * g / norm


class Signal:
    def __init__(self):
        self.freq = torch.rand(BATCH, INPUTS, device=DEVICE) * 0.3 + 0.02
        self.phase = torch.rand(BATCH, INPUTS, device=DEVICE) * 2 * math.pi

    def at(self, t):
        return torch.sin(self.freq * t + self.phase)


def main():
    torch.manual_seed(18)
    cell, signal = Cell(), Signal()
    hidden = torch.zeros(BATCH, HIDDEN, device=DEVICE)
    losses, chunks = [], []
    for t in range(STEPS):
        hidden = cell.step(signal.at(t), hidden)
        losses.append((hidden @ cell.readout - signal.at(t + 1)).square().mean())
        if len(losses) == TRUNCATE:
            loss = torch.stack(losses).mean()
            cell.descend(loss)
            chunks.append(loss.item())
            losses.clear()
            hidden = hidden.detach()
    print(f"{len(chunks)} chunks, loss {chunks[0]:.4f} -> {chunks[-1]:.4f}")


main()
