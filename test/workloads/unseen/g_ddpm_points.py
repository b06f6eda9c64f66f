"""DDPM on 2-D point clouds with a sinusoidal time embedding."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
dev = "cuda"
T, STEPS, BATCH, DIM, HID = 200, 320, 512, 512, 1024


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        half = torch.arange(dim // 2, dtype=torch.float32)
        self.register_buffer("freqs", torch.exp(-math.log(10000) * half / (dim // 2)))
        self.table = {}

    def forward(self, t):
        emb = self.table.get(t)
        if emb is None:
            angle = t[:, None].float() * self.freqs[None]
            emb = torch.cat([angle.sin(), angle.cos()], dim=1)
            self.table[t] = emb
        return emb


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = TimeEmbedding(DIM)
        self.inp = nn.Linear(2, HID)
        self.cond = nn.Linear(DIM, HID)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(HID, HID), nn.SiLU(), nn.Linear(HID, HID), nn.SiLU())
        self.out = nn.Linear(HID, 2)

    def forward(self, x, t):
        return self.out(self.body(self.inp(x) + self.cond(self.time(t))))


betas = torch.linspace(1e-4, 0.02, T, device=dev)
abar = torch.cumprod(1 - betas, 0)
model = Denoiser().to(dev)
opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)


def moons(n):
    a = math.pi * torch.rand(n, device=dev)
    side = torch.randint(0, 2, (n,), device=dev).float()
    x = torch.stack([a.cos() + side, a.sin() * (1 - 2 * side) + 0.5 * side], 1)
    return x + 0.05 * torch.randn_like(x)


avg = None
for step in range(STEPS):
    x0 = moons(BATCH)
    t = torch.randint(0, T, (BATCH,), device=dev)
    noise = torch.randn_like(x0)
    a = abar[t][:, None]
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = F.mse_loss(model(xt, t), noise)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
print(f"denoising loss {avg:.4f}")
