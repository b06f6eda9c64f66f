"""Cascadic Poisson solver: refine the grid until the finest one, then polish there."""
import math

import torch
import torch.nn.functional as F

DEVICE = "cuda"
LEVELS = 22
FINEST = 2048
SWEEPS = 2000


def source(n):
    x = torch.linspace(0, 1, n, device=DEVICE)
    gx, gy = torch.meshgrid(x, x, indexing="ij")
    return 2 * math.pi ** 2 * torch.sin(math.pi * gx) * torch.sin(math.pi * gy)


def prolong(u, n):
    if u.shape[-1] == n:
        return u
    fine = F.interpolate(u[None, None], size=(n, n), mode="bilinear", align_corners=True)
    return fine[0, 0]


class Grid:
    def __init__(self, n, guess):
        self.n = n
        self.rhs = source(n) / (n - 1) ** 2
        self.u = prolong(guess, n).clone()
        self.history = []

    def residual(self):
        u = self.u
        lap = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return lap + self.rhs[1:-1, 1:-1]

    def relax(self, sweeps):
        previous = torch.zeros_like(self.u[1:-1, 1:-1])
        for k in range(sweeps):
            r = self.residual()
            previous = 0.24 * r + 0.75 * previous
            self.u[1:-1, 1:-1] += previous
            if k % 500 == 0:
                self.history.append(r.abs().max().item())
        return self.u


def main():
    u = torch.zeros(129, 129, device=DEVICE)
    report = []
    for level in range(LEVELS):
        n = min(FINEST, 256 + 160 * level)
        grid = Grid(n, u)
        u = grid.relax(SWEEPS)
        report.append((n, grid.history[0], grid.history[-1]))
    x = torch.linspace(0, 1, FINEST, device=DEVICE)
    exact = torch.outer(torch.sin(math.pi * x), torch.sin(math.pi * x))
    error = (u - exact).abs().max().item()
    print(f"{LEVELS} levels up to {report[-1][0]}, max error {error:.2e}, "
          f"residual {report[-1][1]:.1e} -> {report[-1][2]:.1e}")


main()
