#!/usr/bin/env python
# coding: utf-8

# # How far do embeddings move when images are corrupted?

# In[1]:

import functools
import statistics

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
dev = "cuda"

# In[2]:

backbone = nn.Sequential(
    nn.Conv2d(3, 64, 5, 2, 2), nn.BatchNorm2d(64), nn.ReLU(),
    nn.Conv2d(64, 128, 3, 1, 1), nn.BatchNorm2d(128), nn.ReLU(),
    nn.Conv2d(128, 128, 3, 1, 1), nn.BatchNorm2d(128), nn.ReLU(),
    nn.Conv2d(128, 256, 3, 2, 1), nn.BatchNorm2d(256), nn.ReLU(),
    nn.Conv2d(256, 256, 3, 1, 1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(),
).to(dev).eval()

gallery = [torch.rand(64, 3, 64, 64, device=dev) for _ in range(8)]

# In[3]:


@functools.lru_cache(maxsize=None)
def embed(images):
    with torch.no_grad():
        return F.normalize(backbone(images), dim=1)


def drift(a, b):
    return 1 - (embed(a) * embed(b)).sum(1).mean()


def spread(a):
    e = embed(a)
    return (e @ e.T).mean()


# In[4]:

summary = {}
for level in range(25):
    sigma = 0.02 * (level + 1)
    rows = []
    for clean in gallery:
        noisy = (clean + sigma * torch.randn_like(clean)).clamp(0, 1)
        rows.append((drift(clean, noisy).item(), spread(noisy).item()))
        with torch.no_grad():
            for turn in range(4):
                for side in (64, 80, 96):
                    feats = backbone(F.interpolate(torch.rot90(noisy, turn, (2, 3)), size=(side, side)))
        rows[-1] += (feats.std().item(),)
    summary[sigma] = [statistics.mean(col) for col in zip(*rows)]

# In[5]:

for sigma in list(summary)[::8]:
    print(f"{sigma:.2f}", ["%.4f" % v for v in summary[sigma]])

# In[6]:

last = summary[max(summary)]
print(f"drift at the highest noise {last[0]:.4f}, spread {last[1]:.4f}")
