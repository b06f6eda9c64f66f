#!/usr/bin/env python
# coding: utf-8

# # Toy diffusion on checker tiles (EMA weights, last few sample sheets kept for the figure)

# In[1]:

import collections
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
device = "cuda"
T = 100
beta = torch.linspace(1e-4, 0.05, T, device=device)
abar = torch.cumprod(1 - beta, 0)

# In[2]:


class TinyUNet(nn.Module):
    def __init__(self, c=96):
        super().__init__()
        self.time = nn.Sequential(nn.Embedding(T, c), nn.SiLU(), nn.Linear(c, c))
        self.inp = nn.Conv2d(1, c, 3, padding=1)
        self.down = nn.Conv2d(c, 2 * c, 4, 2, 1)
        self.mid = nn.Conv2d(2 * c, 2 * c, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * c, c, 4, 2, 1)
        self.out = nn.Conv2d(2 * c, 1, 3, padding=1)

    def forward(self, x, t):
        a = F.silu(self.inp(x) + self.time(t)[:, :, None, None])
        b = F.silu(self.down(a))
        b = b + F.silu(self.mid(b))
        return self.out(torch.cat([a, F.silu(self.up(b))], 1))


def tiles(n):
    period = torch.randint(2, 9, (n, 1, 1, 1), device=device)
    ax = torch.arange(32, device=device)
    board = (ax[:, None] // period + ax[None, :] // period) % 2
    return board.float() * 2 - 1


@torch.no_grad()
def sheet(net, n=64):
    x = torch.randn(n, 1, 32, 32, device=device)
    for k in reversed(range(0, T, 5)):
        t = torch.full((n,), k, device=device)
        x0 = ((x - (1 - abar[k]).sqrt() * net(x, t)) / abar[k].sqrt()).clamp(-1, 1)
        prev = abar[max(k - 5, 0)]
        x = prev.sqrt() * x0 + (1 - prev).sqrt() * torch.randn_like(x)
    return x0


# In[3]:

net = TinyUNet().to(device)
opt = torch.optim.Adam(net.parameters(), lr=4e-4)
sheets = collections.deque(maxlen=12)
ema = None

# In[4]:

losses = []
for step in range(260):
    x0 = tiles(96)
    t = torch.randint(0, T, (96,), device=device)
    noise = torch.randn_like(x0)
    a = abar[t][:, None, None, None]
    loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if step == 20:
        ema = copy.deepcopy(net).requires_grad_(False)
    elif ema is not None:
        with torch.no_grad():
            for slow, fast in zip(ema.parameters(), net.parameters()):
                slow.lerp_(fast, 0.02)
    if ema is not None and step % 4 == 0:
        sheets.append((step, sheet(ema, 256)))

# In[5]:

print(f"loss {sum(losses[:20]) / 20:.3f} -> {sum(losses[-20:]) / 20:.3f}, sheets {len(sheets)}")
