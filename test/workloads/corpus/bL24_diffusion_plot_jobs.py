"""Trains a tiny diffusion model; samples are drawn now and then and the plots of them are made after the training.
Report: https://github.com/arth-shukla/mshab/issues/19
Class: closure
"""
import math

import torch
from torch import nn

STEPS, SIDE = 20, 16


class Denoiser(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(SIDE * SIDE + 2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, SIDE * SIDE),
        )

    def forward(self, x, t):
        phase = t / STEPS * math.pi / 2
        return self.net(torch.cat([x, phase.sin()[:, None], phase.cos()[:, None]], dim=1))


def alpha_bar(t):
    return torch.cos(t / STEPS * math.pi / 2 * 0.98).pow(2)


@torch.no_grad()
def sample(model, count):
    x = torch.randn(count, SIDE * SIDE, device="cuda")
    for step in range(STEPS, 0, -1):
        now = torch.full((count,), float(step), device="cuda")
        a, b = alpha_bar(now)[:, None], alpha_bar(now - 1)[:, None]
        noise = model(x, now)
        clean = ((x - (1 - a).sqrt() * noise) / a.sqrt()).clamp(-3, 3)
        x = b.sqrt() * clean + (1 - b).sqrt() * noise  # SITE
    return x


def brightness_plot(step, images):
    def draw():
        bars = images.view(-1, SIDE, SIDE).mean(dim=(0, 1))
        return f"{step:4d} " + "".join(" .:-=+*#"[int(v)] for v in (bars * 4 + 4).clamp(0, 7).tolist())
    return draw


def main():
    torch.manual_seed(79)
    model = Denoiser().to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    wave = torch.sin(torch.arange(SIDE, device="cuda") / 2.0)
    plots = []
    for step in range(360):
        clean = (wave + 0.3 * torch.randn(64, SIDE, 1, device="cuda")).flatten(1)
        t = torch.randint(1, STEPS + 1, (64,), device="cuda").float()
        a = alpha_bar(t)[:, None]
        noise = torch.randn_like(clean)
        loss = (model(a.sqrt() * clean + (1 - a).sqrt() * noise, t) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 6 == 0:
            plots.append(brightness_plot(step, sample(model, 48)))  # HOLDER ALSO
        if step % 90 == 0:
            print(f"step {step}: loss {loss.item():.3f}")
    for draw in plots[::20]:
        print(draw())


if __name__ == "__main__":
    main()
