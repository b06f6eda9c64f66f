"""D2Q9 lattice Boltzmann channel driven by a travelling pressure wave."""
import math
from functools import lru_cache

import torch

DEVICE = "cuda"
STEPS = 2200
NY, NX = 384, 512
OMEGA = 1.2

C = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
W = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4

xs = torch.linspace(0, 2 * math.pi, NX, device=DEVICE).expand(NY, NX)
ys = torch.linspace(0, math.pi, NY, device=DEVICE).unsqueeze(1).expand(NY, NX)


@lru_cache(maxsize=None)
def forcing(t):
    """Body force at time t; both half steps ask for it."""
    envelope = torch.sin(ys) * 1e-5
    return envelope * torch.cos(3 * xs - 0.02 * t)


def equilibrium(rho, ux, uy):
    usq = 1.5 * (ux * ux + uy * uy)
    out = []
    for (cx, cy), w in zip(C, W):
        cu = 3 * (cx * ux + cy * uy)
        out.append(w * rho * (1 + cu + 0.5 * cu * cu - usq))
    return torch.stack(out)


def macroscopic(f):
    rho = f.sum(0)
    ux = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / rho
    uy = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / rho
    return rho, ux, uy


def main():
    rho = torch.ones(NY, NX, device=DEVICE)
    f = equilibrium(rho, torch.zeros_like(rho), torch.zeros_like(rho))
    wall = torch.zeros(NY, NX, dtype=torch.bool, device=DEVICE)
    wall[0] = wall[-1] = True
    opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
    peak = 0.0
    for step in range(STEPS):
        rho, ux, uy = macroscopic(f)
        ux = ux + 0.5 * forcing(step * 0.5)
        f = f + OMEGA * (equilibrium(rho, ux, uy) - f)
        f[1] += forcing(step * 0.5) / 3
        f[3] -= forcing(step * 0.5) / 3
        f = torch.where(wall, f[opposite], f)
        f = torch.stack([torch.roll(f[i], (cy, cx), (0, 1)) for i, (cx, cy) in enumerate(C)])
        if step % 200 == 199:
            peak = max(peak, float(ux.abs().max()))
    print(f"{STEPS} steps, mass {float(f.sum()) / (NX * NY):.5f}, peak velocity {peak:.2e}")


main()
