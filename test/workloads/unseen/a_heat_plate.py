"""Heat spreading on a plate with a material map; sensor readings are written per output interval."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)


class Plate(nn.Module):
    def __init__(self, size=256, dt=0.1):
        super().__init__()
        self.dt = dt
        self.diffusivity = nn.Parameter(0.5 + torch.rand(1, 1, size, size))
        stencil = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
        self.register_buffer("stencil", stencil.view(1, 1, 3, 3))

    def forward(self, u):
        padded = F.pad(u, (1, 1, 1, 1), mode="replicate")  # SITE
        lap = F.conv2d(padded, self.stencil)  # SITE
        return u + self.dt * self.diffusivity * lap  # SITE


def main():
    plate = Plate().to("cuda")
    u = torch.zeros(1, 1, 256, 256, device="cuda")
    u[..., 96:160, 96:160] = 100.0
    sensors = [(10, 10), (128, 128), (200, 128)]
    readings = []
    for interval in range(28):
        for _ in range(20):
            u = plate(u)  # HOLDER
        readings.append([u[0, 0, r, c].item() for r, c in sensors])
        time.sleep(0.1)
    last = ", ".join(f"{v:.3f}" for v in readings[-1])
    print(f"{len(readings)} intervals, sensors at end: {last}")


if __name__ == "__main__":
    main()
