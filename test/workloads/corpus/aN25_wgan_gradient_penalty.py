"""WGAN with gradient penalty on a ring of Gaussians.

Report: https://github.com/pytorch/pytorch/issues/4661
Class: gradient-penalty
"""
import math

import torch
import torch.nn as nn


def ring(count):
    angle = torch.randint(0, 8, (count,), device="cuda") * (math.pi / 4)
    return torch.stack([angle.cos(), angle.sin()], dim=1) * 2 + 0.05 * torch.randn(count, 2, device="cuda")


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1, device="cuda")
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    grad, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (grad.norm(dim=1) - 1).pow(2).mean()


def mlp(inputs, outputs, hidden=128):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
                         nn.Linear(hidden, outputs)).to("cuda")


def main():
    torch.manual_seed(24)
    generator, critic = mlp(16, 2), mlp(2, 1)
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=5e-4, betas=(0.5, 0.9))
    c_optimizer = torch.optim.Adam(critic.parameters(), lr=5e-4, betas=(0.5, 0.9))
    for step in range(150):
        for _ in range(3):
            real = ring(128)
            fake = generator(torch.randn(128, 16, device="cuda")).detach()
            c_loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
            c_optimizer.zero_grad()
            c_loss.backward()
            c_optimizer.step()
        g_loss = -critic(generator(torch.randn(128, 16, device="cuda"))).mean()
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
        if step % 30 == 29:
            print(f"step {step + 1}: critic {c_loss.item():.3f} generator {g_loss.item():.3f}")


if __name__ == "__main__":
    main()
