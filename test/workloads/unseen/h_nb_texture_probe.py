#!/usr/bin/env python
# coding: utf-8

# # Which blocks of the small ViT respond to texture frequency?

# In[1]:

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
device = "cuda"


# In[2]:

class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(a.transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.n2(x))


class SmallViT(nn.Module):
    def __init__(self, dim=384, depth=6):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 8, 8)
        self.pos = nn.Parameter(torch.randn(1, 144, dim) * 0.02)
        self.blocks = nn.ModuleList([Block(dim, 6) for _ in range(depth)])

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2) + self.pos
        for blk in self.blocks:
            x = blk(x)
        return x.mean(1)


vit = SmallViT().to(device).eval()


# In[3]:

def grating(freq, n, size=96):
    ax = torch.linspace(0, 1, size, device=device)
    phase = torch.rand(n, 1, 1, device=device) * 2 * math.pi
    g = torch.sin(2 * math.pi * freq * (ax[None, :, None] + ax[None, None, :]) + phase)
    return g[:, None].expand(n, 3, size, size)


def make_hook(store, name):
    def hook(module, inputs, output):
        store[name] = output.detach()[:, ::2].contiguous()
    return hook


# In[4]:  (edited and run again for each frequency)

table = []
for freq in [1 + 0.75 * i for i in range(22)]:
    captured = {}
    for i in (1, 4):
        vit.blocks[i].register_forward_hook(make_hook(captured, f"block{i}"))
    energy = torch.zeros(2, device=device)
    for rep in range(30):
        with torch.no_grad():
            vit(grating(freq, 48))
        energy += torch.stack([captured["block1"].pow(2).mean(), captured["block4"].pow(2).mean()])
    early, late = (energy / 30).tolist()
    table.append((freq, early, late))


# In[5]:

best = max(table, key=lambda row: row[2] / row[1])
print(f"strongest late/early ratio at freq {best[0]:.2f}: {best[2] / best[1]:.3f}")
