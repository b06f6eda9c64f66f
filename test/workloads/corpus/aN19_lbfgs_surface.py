"""Fits a neural surface with L-BFGS; its history of directions fills during the first part of the run.

Report: https://github.com/torch/distro/issues/211
Class: lbfgs
"""
import torch
import torch.nn as nn


def surface(points):
    return (torch.sin(3 * points[:, :1]) * torch.cos(2 * points[:, 1:])).tanh()


def main():
    torch.manual_seed(18)
    model = nn.Sequential(nn.Linear(2, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1)).to("cuda")
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4, history_size=60)
    points = torch.rand(400, 2, device="cuda") * 2 - 1
    values = surface(points)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(points), values)
        loss.backward()
        return loss

    for step in range(60):
        loss = optimizer.step(closure)
        if step % 15 == 14:
            print(f"step {step + 1}: loss {loss.item():.6f}")
    grid = torch.rand(1000, 2, device="cuda") * 2 - 1
    with torch.no_grad():
        print(f"error on fresh points {(model(grid) - surface(grid)).abs().mean().item():.4f}")


main()
