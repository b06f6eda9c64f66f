"""Denoising diffusion with an EMA of the weights; every 25 steps samples are drawn with their whole trajectory.
Report: https://github.com/lucidrains/denoising-diffusion-pytorch/issues/74
Class: checkpoint-replaced
"""
import copy

import torch
from torch import nn

T = 25


class TinyUnet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.time = nn.Embedding(T, width)
        self.inp = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 4, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1)
        self.out = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, x, t):
        h = torch.relu(self.inp(x) + self.time(t)[:, :, None, None])
        low = torch.relu(self.up(torch.relu(self.down(h))))
        return self.out(torch.cat([h, low], dim=1))


betas = torch.linspace(1e-3, 0.25, T, device="cuda")
alphas_bar = torch.cumprod(1 - betas, dim=0)


@torch.no_grad()
def trajectory(model, count):
    x = torch.randn(count, 1, 16, 16, device="cuda")
    states = [x]
    for step in reversed(range(T)):
        t = torch.full((count,), step, device="cuda")
        x = (x - betas[step] / (1 - alphas_bar[step]).sqrt() * model(x, t)) / (1 - betas[step]).sqrt()
        if step:
            x = x + betas[step].sqrt() * torch.randn_like(x)
        states.append(x)
    return torch.stack(states)


def main():
    torch.manual_seed(131)
    model = TinyUnet().to("cuda")
    ema = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    best, best_state = float("inf"), None
    for step in range(326):
        image = torch.zeros(24, 1, 16, 16, device="cuda")
        row = int(torch.randint(2, 12, ()))
        image[:, :, row:row + 3] = 1.0
        t = torch.randint(0, T, (24,), device="cuda")
        a = alphas_bar[t][:, None, None, None]
        noise = torch.randn_like(image)
        loss = (model(a.sqrt() * image + (1 - a).sqrt() * noise, t) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), model.parameters()):
                e.lerp_(p, 0.05)
        if step % 25 == 0:
            states = trajectory(ema, 24)
            stripes = states[-1].mean(dim=3).std(dim=2).mean().item()
            print(f"step {step}: loss {loss.item():.3f}, stripes {stripes:.3f}")
            if abs(stripes - 0.39) < best:
                best, best_state = abs(stripes - 0.39), {k: v.clone() for k, v in ema.state_dict().items()}
    ema.load_state_dict(best_state)


if __name__ == "__main__":
    main()
