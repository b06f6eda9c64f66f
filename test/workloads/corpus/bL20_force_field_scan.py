"""Scans the forces of a neural potential along random walks of its particles (energy by the net, forces by autograd).
Report: https://github.com/pytorch/pytorch/issues/4661
Class: create_graph
"""
import torch
from torch import nn


class PairPotential(nn.Module):
    """Energy as a sum over the pairs of a small MLP of distances."""

    def __init__(self, num_particles):
        super().__init__()
        pairs = torch.combinations(torch.arange(num_particles), 2)
        self.register_buffer("pairs", pairs)
        self.mlp = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, positions):
        delta = positions[self.pairs[:, 0]] - positions[self.pairs[:, 1]]  # ALSO
        distance = delta.pow(2).sum(dim=1, keepdim=True).add(1e-6).sqrt()  # ALSO
        return self.mlp(distance).sum()  # ALSO


def forces(model, positions):
    positions = positions.detach().requires_grad_(True)
    energy = model(positions)  # ALSO
    # The graph is kept so that callers may ask for second derivatives too.
    energy.backward(create_graph=True)  # SITE HOLDER
    result = -positions.grad.detach()
    model.zero_grad()
    return energy.detach(), result


def main():
    torch.manual_seed(61)
    model = PairPotential(num_particles=32).to("cuda")
    positions = torch.randn(32, 3, device="cuda") * 2
    total = 0.0
    for step in range(400):
        energy, force = forces(model, positions)
        positions = positions + 0.01 * force + 0.02 * torch.randn(32, 3, device="cuda")
        total += energy.item()
        if step % 80 == 0:
            print(f"step {step}: mean energy {total / (step + 1):.3f}, largest force {force.abs().max().item():.3f}")


if __name__ == "__main__":
    main()
