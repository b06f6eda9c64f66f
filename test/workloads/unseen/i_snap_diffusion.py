"""Toy denoising diffusion on 32x32 blobs with per-pixel error statistics."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.cuda.memory._record_memory_history(max_entries=200000)

DEV = "cuda"
STEPS, BATCH, LEVELS = 120, 128, 200


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Embedding(LEVELS, width)
        self.first = nn.Conv2d(1, width, 3, padding=1)
        self.mid = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(4))
        self.last = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x, t):
        h = self.first(x) + self.time(t)[:, :, None, None]
        for conv in self.mid:
            h = h + F.silu(conv(h))
        return self.last(h)


class ErrorStats:
    """Squared errors by pixel and noise level, for the quantiles in the final table."""

    def __init__(self):
        self.maps = torch.empty(0, 1, 32, 32, device=DEV)
        self.levels = torch.empty(0, dtype=torch.long, device=DEV)

    def update(self, err, t):
        self.maps = torch.cat([self.maps, err])
        self.levels = torch.cat([self.levels, t])

    def quantile(self, low, high):
        pick = (self.levels >= low) & (self.levels < high)
        return self.maps[pick].flatten(1).mean(1).median().item()


def blobs(n):
    lin = torch.linspace(-1, 1, 32, device=DEV)
    cx, cy = torch.rand(2, n, 1, 1, device=DEV) - 0.5
    return torch.exp(-8 * ((lin.view(1, 1, -1) - cx) ** 2 + (lin.view(1, -1, 1) - cy) ** 2)).unsqueeze(1)


def main():
    torch.manual_seed(0)
    net = Denoiser().to(DEV)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    alpha = torch.cumprod(1 - torch.linspace(1e-4, 0.05, LEVELS, device=DEV), 0)
    stats = ErrorStats()
    for step in range(STEPS):
        x0 = blobs(BATCH)
        t = torch.randint(0, LEVELS, (BATCH,), device=DEV)
        a = alpha[t].view(-1, 1, 1, 1)
        noise = torch.randn_like(x0)
        pred = net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t)
        err = (pred - noise).pow(2)
        opt.zero_grad()
        err.mean().backward()
        opt.step()
        stats.update(err.detach(), t)
    torch.cuda.memory._dump_snapshot("i_snap_diffusion.pickle")
    print(f"median error low {stats.quantile(0, 100):.4f} high {stats.quantile(100, 200):.4f}")


main()
