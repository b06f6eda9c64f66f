"""Exponentiated-gradient portfolios: many risk profiles fitted at once."""
import torch

DEVICE = "cuda"
ROUNDS = 380
PROFILES = 256
ASSETS = 2048
WINDOWS = 20
DAYS = 1024


def market():
    drift = torch.randn(ASSETS, device=DEVICE) * 2e-4
    vol = torch.rand(ASSETS, device=DEVICE) * 0.02
    noise = torch.randn(WINDOWS, DAYS, ASSETS, device=DEVICE)
    return noise.mul_(vol).add_(drift).add_(1.0).clamp_(min=0.5)


def objective(relatives, weights, aversion):
    growth = torch.log(relatives @ weights.T)
    mean = growth.mean(0)
    return -(mean - aversion * growth.var(0)).sum()


torch.manual_seed(3)
windows = market()
aversion = torch.linspace(0.0, 20.0, PROFILES, device=DEVICE)
weights = torch.full((PROFILES, ASSETS), 1.0 / ASSETS, device=DEVICE)
weights.requires_grad_()
rate = 4.0
value = 0.0
for step in range(ROUNDS):
    total = torch.zeros(PROFILES, ASSETS, device=DEVICE)
    value = 0.0
    for relatives in windows:
        loss = objective(relatives, weights, aversion)
        (grad,) = torch.autograd.grad(loss, weights)
        total += grad
        value += loss.detach()
    factor = torch.exp(-rate * total / WINDOWS)
    weights = weights * factor
    weights = weights / weights.sum(1, keepdim=True)
    if step % 100 == 99:
        rate *= 0.7
share = weights.detach().topk(10, dim=1).values.sum(1)
print(f"objective {float(value) / WINDOWS:.5f}, top-10 share {share.min():.3f}..{share.max():.3f}")
