"""Fit drag and spring maps of a particle system by differentiating through the simulation."""
import time

import torch

torch.manual_seed(41)
N, STEPS, DT, RATE = 20_000, 40, 0.05, 20.0


def simulate(pos, vel, drag, spring):
    path_energy = 0.0
    for _ in range(STEPS):
        acc = -spring * pos - drag * vel
        vel = vel + DT * acc
        pos = pos + DT * vel
        path_energy = path_energy + vel.pow(2).mean()
    return pos, path_energy / STEPS


def main():
    start = torch.randn(N, 2, device="cuda")
    zero = torch.zeros(N, 2, device="cuda")
    true_drag = 0.3 + 0.2 * torch.rand(N, 1, device="cuda")
    true_spring = 1.0 + 0.5 * torch.rand(N, 1, device="cuda")
    with torch.no_grad():
        goal, goal_energy = simulate(start, zero, true_drag, true_spring)
    drag = torch.full((N, 1), 0.3, device="cuda", requires_grad=True)
    spring = torch.full((N, 1), 1.0, device="cuda", requires_grad=True)
    losses = []
    best = (float("inf"), None)
    for iteration in range(18):
        end, energy = simulate(start, zero, drag, spring)
        loss = (end - goal).pow(2).sum() / N + (energy - goal_energy).pow(2)
        grads = torch.autograd.grad(loss, [drag, spring])
        with torch.no_grad():
            drag -= RATE * grads[0]
            spring -= RATE * grads[1]
        losses.append(loss.item())
        if losses[-1] < best[0]:
            best = (losses[-1], spring.detach().clone())
        time.sleep(0.12)
    error = (best[1] - true_spring).abs().mean().item()
    print(f"loss {losses[0]:.6f} -> {losses[-1]:.6f} spring error {error:.4f}")


if __name__ == "__main__":
    main()
