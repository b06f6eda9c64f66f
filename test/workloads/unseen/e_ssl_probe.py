"""VICReg-style self-supervised pre-training with a ridge probe after every epoch."""
import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
EPOCHS, STEPS, BATCH = 24, 60, 256
PROTOS = 10


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(512, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, 256))
        self.expander = nn.Sequential(nn.Linear(256, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, 512))

    def forward(self, x):
        h = self.trunk(x)
        return self.expander(h)


def vicreg(a, b):
    inv = F.mse_loss(a, b)
    loss = 25 * inv
    for z in (a, b):
        z = z - z.mean(0)
        loss = loss + 25 * F.relu(1 - (z.var(0) + 1e-4).sqrt()).mean()
        cov = z.T @ z / (len(z) - 1)
        loss = loss + (cov.square().sum() - cov.diagonal().square().sum()) / z.shape[1]
    return loss


def sample(centers, n):
    y = torch.randint(0, PROTOS, (n,), device=DEV)
    return centers[y] + 0.8 * torch.randn(n, 512, device=DEV), y


@torch.no_grad()
def probe_accuracy(model, centers):
    """Closed-form ridge regression on the trunk features."""
    feats, labels = [], []

    def grab(module, args, output):
        feats.append(output.detach())

    model.trunk.register_forward_hook(grab)
    model.eval()
    for _ in range(6):
        x, y = sample(centers, BATCH)
        model(x)
        labels.append(y)
    model.train()
    h, y = torch.cat(feats), F.one_hot(torch.cat(labels), PROTOS).float()
    cut = len(h) * 2 // 3
    eye = torch.eye(h.shape[1], device=DEV)
    w = torch.linalg.solve(h[:cut].T @ h[:cut] + 0.1 * eye, h[:cut].T @ y[:cut])
    return ((h[cut:] @ w).argmax(1) == y[cut:].argmax(1)).float().mean().item()


torch.manual_seed(2)
centers = torch.randn(PROTOS, 512, device=DEV)
model = Encoder().to(DEV)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
accs = []
for epoch in range(EPOCHS):
    for _ in range(STEPS):
        x, _ = sample(centers, BATCH)
        loss = vicreg(model(x + 0.3 * torch.randn_like(x)), model(x * (torch.rand_like(x) > 0.2)))
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    accs.append(probe_accuracy(model, centers))
print(f"vicreg probe: first {accs[0]:.3f} last {accs[-1]:.3f}")
