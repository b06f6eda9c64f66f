"""Two-headed network (depth + normals style) with loss balancing from a probe set."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
dev = "cuda"
STEPS, BATCH, WIDTH, PROBE = 150, 1024, 1024, 128


class Shared(nn.Module):
    def __init__(self, d_in=256):
        super().__init__()
        self.inp = nn.Linear(d_in, WIDTH)
        self.mid = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(4)])
        self.depth = nn.Linear(WIDTH, 1)
        self.normal = nn.Linear(WIDTH, 3)

    def forward(self, x):
        h = F.gelu(self.inp(x))
        for layer in self.mid:
            h = F.gelu(layer(h))
        return self.depth(h), self.normal(h)


class Balancer:
    """Weights the tasks by how slowly their probe loss falls."""

    def __init__(self, names, beta=0.9):
        self.beta = beta
        self.smooth = {n: None for n in names}
        self.weights = {n: 1.0 for n in names}

    def observe(self, values):
        for name, v in values.items():
            old = self.smooth[name]
            self.smooth[name] = v if old is None else self.beta * old + (1 - self.beta) * v
        total = sum(s.item() for s in self.smooth.values())
        for name, s in self.smooth.items():
            self.weights[name] = 2.0 * s.item() / total


def task_losses(net, x, depth, normal):
    d, n = net(x)
    return {"depth": F.mse_loss(d, depth),
            "normal": (1 - F.cosine_similarity(n, normal, dim=1)).mean()}


def batch(size):
    x = torch.randn(size, 256, device=dev)
    return x, x[:, :8].sum(1, keepdim=True), torch.tanh(x[:, 8:11])


net = Shared().to(dev)
opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
balancer = Balancer(["depth", "normal"])
probe = batch(PROBE)
for step in range(STEPS):
    for _ in range(6):
        losses = task_losses(net, *batch(BATCH))
        loss = sum(balancer.weights[k] * v for k, v in losses.items())
        opt.zero_grad()
        loss.backward()
        opt.step()
    balancer.observe(task_losses(net, *probe))
print("weights", {k: round(v, 3) for k, v in balancer.weights.items()})
