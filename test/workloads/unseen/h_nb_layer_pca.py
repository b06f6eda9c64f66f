#!/usr/bin/env python
# coding: utf-8

# # Effective dimension of hidden states, layer by layer, for 18 input scales

# In[1]:

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(9)
torch.set_grad_enabled(False)
dev = torch.device("cuda")

# In[2]:

stack = nn.Sequential(*[
    nn.Sequential(nn.Linear(1024, 1024), nn.LayerNorm(1024), nn.GELU()) for _ in range(6)
]).to(dev).eval()
basis = torch.randn(40, 1024, device=dev)


def inputs(scale, n=2048):
    return scale * torch.randn(n, 40, device=dev) @ basis + torch.randn(n, 1024, device=dev) * 0.1


# In[3]:

acts = {}
spectra = {}
dims = np.zeros((18, 6))

for run in range(18):
    scale = 0.05 * 1.25 ** run
    handles = []
    for i, layer in enumerate(stack):
        acts[i] = []
        handles.append(layer.register_forward_hook(lambda m, a, out, i=i: acts[i].append(out)))

    for _ in range(12):
        stack(inputs(scale))
    for h in handles:
        h.remove()

    for i in range(6):
        z = torch.cat(acts[i])
        z = z - z.mean(0)
        eig = torch.linalg.eigvalsh(z.T @ z / len(z))
        p = eig.clamp_min(0) / eig.sum()
        dims[run, i] = float(1 / (p ** 2).sum())
        spectra[run, i] = eig[-16:].cpu()

# In[4]:

for run in (0, 9, 17):
    print(run, np.round(dims[run], 1))

# In[5]:

steep = max(spectra, key=lambda k: float(spectra[k][-1] / spectra[k][-2]))

# In[6]:

print(f"dimension {dims[0].mean():.1f} -> {dims[-1].mean():.1f}, steepest spectrum at {steep}")
