#!/usr/bin/env python
# coding: utf-8

# # Average attention maps per sentence-length bucket

# In[1]:

import random
from collections import Counter, defaultdict

import torch
import torch.nn as nn

random.seed(13)
torch.manual_seed(13)
device = "cuda"
DIM, HEADS, LAYERS = 256, 8, 4

# In[2]:

emb = nn.Embedding(5000, DIM).to(device)
mha = nn.ModuleList([nn.MultiheadAttention(DIM, HEADS, batch_first=True) for _ in range(LAYERS)]).to(device)
ffn = nn.ModuleList([nn.Sequential(nn.Linear(DIM, 1024), nn.ReLU(), nn.Linear(1024, DIM)) for _ in range(LAYERS)]).to(device)

masks = {}        # length -> causal mask
bias = {}         # length -> distance penalty, one slope for each head
mean_map = {}     # (layer, length) -> running mean over batches
seen = Counter()

# In[3]:


def causal(n):
    if n not in masks:
        masks[n] = torch.ones(n, n, dtype=torch.bool, device=device).triu(1)
        dist = (torch.arange(n, device=device)[:, None] - torch.arange(n, device=device)).float()
        slopes = 2.0 ** -torch.arange(1, HEADS + 1, device=device)
        bias[n] = (-slopes[:, None, None] * dist).masked_fill(masks[n], float("-inf")).repeat(24, 1, 1)
    return bias[n]


def bucket(n):
    return min(-(-n // 24) * 24, 288)


# In[4]:

drift = defaultdict(list)
for batch in range(360):
    n = bucket(int(random.lognormvariate(4.6, 0.6)) + 8)
    x = emb(torch.randint(0, 5000, (24, n), device=device)).detach()
    seen[n] += 1
    with torch.no_grad():
        for layer in range(LAYERS):
            out, att = mha[layer](x, x, x, attn_mask=causal(n), average_attn_weights=False)
            x = x + out
            x = x + ffn[layer](x)
            att = att.mean(0)
            if (layer, n) not in mean_map:
                mean_map[layer, n] = att
            else:
                old = mean_map[layer, n]
                mean_map[layer, n] = old + (att - old) / seen[n]
                drift[layer].append((mean_map[layer, n] - old).abs().max().item())

# In[5]:

print("batches for each length", dict(sorted(seen.items())))
diag = {k: m.diagonal(dim1=1, dim2=2).mean().item() for k, m in mean_map.items()}

# In[6]:

last = [sum(d[-10:]) / 10 for d in drift.values()]
print(f"maps {len(mean_map)}, mean self-attention {sum(diag.values()) / len(diag):.4f}, drift {max(last):.2e}")
