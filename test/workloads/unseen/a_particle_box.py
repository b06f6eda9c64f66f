"""Particles in a periodic box with a smooth background force; reports the mean displacement."""
import time

import torch

torch.manual_seed(1)
N, STEPS, DT, BOX = 100_000, 200, 0.01, 10.0


def force(pos):
    k = 2 * torch.pi / BOX
    x, y, z = pos.unbind(-1)
    fx = torch.sin(k * x) * torch.cos(k * y)
    fy = torch.sin(k * y) * torch.cos(k * z)
    fz = torch.sin(k * z) * torch.cos(k * x)
    return torch.stack([fx, fy, fz], dim=-1)


class Recorder:
    def __init__(self):
        self.frames = []
        self.energy = []

    def record(self, pos, vel):
        self.frames.append(pos.clone())  # SITE HOLDER
        self.energy.append(0.5 * vel.pow(2).sum(-1).mean().item())


def main():
    pos = torch.rand(N, 3, device="cuda") * BOX
    vel = 0.1 * torch.randn(N, 3, device="cuda")
    recorder = Recorder()
    acc = force(pos % BOX)
    for step in range(STEPS):
        vel += 0.5 * DT * acc
        pos += DT * vel
        acc = force(pos % BOX)
        vel += 0.5 * DT * acc
        recorder.record(pos, vel)
        time.sleep(0.012)
    moved = (recorder.frames[-1] - recorder.frames[0]).norm(dim=-1).mean().item()
    print(f"moved {moved:.5f} energy {recorder.energy[0]:.5f} -> {recorder.energy[-1]:.5f}")


if __name__ == "__main__":
    main()
