"""Grows a quantised sequence model block by block on longer and longer sequences, distilling each from the last."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, BLOCKS, STAGE, STEPS = 48, 6, 20, 260


class Quantise(torch.autograd.Function):
    last_input = None

    @staticmethod
    def forward(ctx, x, levels):
        ctx.save_for_backward(x)
        Quantise.last_input = x.detach()
        return (x.clamp(-1, 1) * levels).round() / levels

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1), None


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Conv1d(WIDTH, WIDTH, 3, padding=1)
        self.out = nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, x):
        return x + self.out(Quantise.apply(self.mix(x), 8))


class Grower:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv1d(1, WIDTH, 1), nn.Conv1d(WIDTH, 1, 1)).to("cuda")
        self.teacher = None
        self.fresh_optimizer()

    def fresh_optimizer(self):
        self.opt = torch.optim.Adam(self.net.parameters(), lr=2e-3)

    def grow(self):
        self.teacher = copy.deepcopy(self.net).requires_grad_(False)
        layers = list(self.net.children())
        if len(layers) - 2 < BLOCKS:
            layers.insert(-1, Block().to("cuda"))
        self.net = nn.Sequential(*layers)
        self.fresh_optimizer()

    def learn(self, x, y):
        prediction = self.net(x)
        loss = F.mse_loss(prediction, y)
        if self.teacher is not None:
            loss = loss + 0.05 * F.mse_loss(prediction, self.teacher(x))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    torch.manual_seed(73)
    grower = Grower()
    losses = []
    for step in range(STEPS):
        if step % STAGE == STAGE - 1:
            grower.grow()
        length = min(96, 16 + step)
        x = torch.randn(16, 1, length, device="cuda")
        y = x.cumsum(-1) / torch.arange(1, length + 1, device="cuda").sqrt()
        losses.append(grower.learn(x, y))
        if step % 52 == 51:
            spread = Quantise.last_input.std().item() if Quantise.last_input is not None else 0.0
            print(f"step {step + 1}: layers {len(grower.net)} length {length} loss {sum(losses[-20:]) / 20:.4f} {spread:.3f}")


main()
