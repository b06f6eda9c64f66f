"""WGAN with gradient penalty on two-dimensional rings; the critic is trained three times for each generator step.
Report: https://github.com/caogang/wgan-gp/issues/21
Class: create_graph
"""
import math

import torch
from torch import nn


def mlp(in_dim, out_dim, width=128):
    return nn.Sequential(
        nn.Linear(in_dim, width), nn.Softplus(), nn.Linear(width, width), nn.Softplus(), nn.Linear(width, out_dim)
    )


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1, device="cuda")
    points = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(points).sum(), points, create_graph=True)
    return (grad.norm(dim=1) - 1).pow(2).mean()


def rings(count):
    angle = 2 * math.pi * torch.rand(count, device="cuda")
    radius = torch.where(torch.rand(count, device="cuda") < 0.5, 1.0, 2.0)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


def main():
    torch.manual_seed(109)
    generator, critic = mlp(8, 2).to("cuda"), mlp(2, 1).to("cuda")
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
    history = []
    for step in range(130):
        for _ in range(3):
            real = rings(256)
            with torch.no_grad():
                fake = generator(torch.randn(256, 8, device="cuda"))
            distance = critic(real).mean() - critic(fake).mean()
            loss = -distance + 10.0 * gradient_penalty(critic, real, fake)
            opt_c.zero_grad()
            loss.backward()
            opt_c.step()
        g_loss = -critic(generator(torch.randn(256, 8, device="cuda"))).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        history.append((distance.item(), g_loss.item()))
        if step % 30 == 0:
            print(f"step {step}: distance {history[-1][0]:.4f} G {history[-1][1]:.4f}")


if __name__ == "__main__":
    main()
