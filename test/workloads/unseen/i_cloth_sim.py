"""Mass-spring cloth hanging from two corners, semi-implicit Euler."""
import torch
import torch.nn as nn

DEV = "cuda"
SIDE, FRAMES, SUBSTEPS, DT = 64, 300, 4, 2e-3


def grid_edges(n):
    idx = torch.arange(n * n, device=DEV).view(n, n)
    pairs = [
        (idx[:, :-1], idx[:, 1:]),
        (idx[:-1, :], idx[1:, :]),
        (idx[:-1, :-1], idx[1:, 1:]),
        (idx[1:, :-1], idx[:-1, 1:]),
    ]
    a = torch.cat([p.reshape(-1) for p, _ in pairs])
    b = torch.cat([q.reshape(-1) for _, q in pairs])
    return a, b


class Cloth(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.stiffness = nn.Parameter(torch.tensor(900.0))
        self.damping = 0.4
        self.a, self.b = grid_edges(n)
        line = torch.linspace(-0.5, 0.5, n, device=DEV)
        gx, gz = torch.meshgrid(line, line, indexing="ij")
        self.pos = torch.stack([gx, torch.zeros_like(gx), gz], dim=-1).view(-1, 3)
        self.vel = torch.zeros_like(self.pos)
        self.rest = (self.pos[self.b] - self.pos[self.a]).norm(dim=1, keepdim=True)
        self.free = torch.ones(n * n, 1, device=DEV)
        self.free[0] = self.free[n - 1] = 0.0
        self.gravity = torch.tensor([0.0, -9.81, 0.0], device=DEV)

    def forces(self):
        d = self.pos[self.b] - self.pos[self.a]
        length = d.norm(dim=1, keepdim=True).clamp_min(1e-6)
        pull = self.stiffness * (length - self.rest)
        f = pull * d / length
        total = torch.zeros_like(self.pos).index_add(0, self.a, f)
        return total.index_add(0, self.b, -f) - self.damping * self.vel

    def step(self):
        acc = self.forces() + self.gravity
        self.vel = (self.vel + DT * acc) * self.free
        self.pos = self.pos + DT * self.vel

    def lowest(self):
        return self.pos[:, 1].min().item()


torch.manual_seed(0)
cloth = Cloth(SIDE).to(DEV)
curve = []
for frame in range(FRAMES):
    for _ in range(SUBSTEPS):
        cloth.step()
    curve.append(cloth.lowest())
print(f"frames {FRAMES} lowest point {min(curve):.4f}")
