"""Simulates soft particles in a box and estimates the curvature of the energy along the way."""
import torch

DEVICE = "cuda"
PARTICLES = 220
STEPS = 260


class Box:
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.pos = (torch.rand(n, 3, generator=gen) * 6).to(DEVICE)
        self.vel = (0.1 * torch.randn(n, 3, generator=gen)).to(DEVICE)
        self.signs = torch.randint(0, 2, (n, 3), generator=gen).to(DEVICE) * 2.0 - 1.0
        self.energies = []
        self.curvature = []

    def potential(self, pos):
        squared = (pos[:, None] - pos[None]).pow(2).sum(-1)  # SITE
        return 0.5 * torch.exp(-squared).sum() + 0.01 * (pos - 3).pow(2).sum()

    def step(self, dt):
        pos = self.pos.detach().requires_grad_(True)
        energy = self.potential(pos)
        (grad,) = torch.autograd.grad(energy, pos, create_graph=True)
        (hv,) = torch.autograd.grad((grad * self.signs).sum(), pos, retain_graph=True)
        self.curvature.append((hv * self.signs).sum().item())
        self.vel = 0.999 * self.vel - dt * grad.detach()
        self.pos = pos.detach() + dt * self.vel
        self.energies.append(energy)  # HOLDER

    def drift(self):
        first = self.energies[0]
        return max(abs(float(e - first)) for e in self.energies)


box = Box(PARTICLES, seed=23)
for t in range(STEPS):
    box.step(0.01)
    if t % 52 == 51:
        recent = box.curvature[-26:]
        print(f"step {t + 1}: drift {box.drift():.3f} curvature {sum(recent) / len(recent):.2f}")
kinetic = 0.5 * box.vel.pow(2).sum().item()
print(f"kinetic energy {kinetic:.3f}")
