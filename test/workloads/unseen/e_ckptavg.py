"""Denoising autoencoder for spectra, evaluated with the average of the last six checkpoints."""
from collections import deque

import torch
from torch import nn

DEV = "cuda"
EPOCHS, STEPS, BATCH, BINS = 28, 60, 256, 1024


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(BINS, 1024), nn.GELU(), nn.Linear(1024, 128))
        self.up = nn.Sequential(nn.Linear(128, 1024), nn.GELU(), nn.Linear(1024, BINS))

    def forward(self, x):
        return self.up(self.down(x))


def spectra(n):
    axis = torch.linspace(0, 1, BINS, device=DEV)
    where = torch.rand(n, 5, 1, device=DEV)
    width = 0.005 + 0.02 * torch.rand(n, 5, 1, device=DEV)
    clean = torch.exp(-((axis - where) / width) ** 2).sum(1)
    return clean + 0.2 * torch.randn_like(clean), clean


def average(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean(0) for k in checkpoints[0]}


def evaluate(model, batches=8):
    err = 0.0
    with torch.no_grad():
        for _ in range(batches):
            noisy, clean = spectra(BATCH)
            err += (model(noisy) - clean).square().mean().item() / batches
    return err


torch.manual_seed(2)
model, averaged = Denoiser().to(DEV), Denoiser().to(DEV)
opt = torch.optim.NAdam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=7)
recent = deque(maxlen=6)
history = []
for epoch in range(EPOCHS):
    for step in range(STEPS):
        noisy, clean = spectra(BATCH)
        loss = (model(noisy) - clean).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step(epoch + step / STEPS)
    recent.append({k: v.detach().clone() for k, v in model.state_dict().items()})
    averaged.load_state_dict(average(recent))
    history.append((evaluate(model), evaluate(averaged)))
print(f"denoiser: last {history[-1][0]:.5f} averaged {history[-1][1]:.5f}")
