#!/usr/bin/env python
# coding: utf-8

# # Contrastive embeddings with a memory bank, kNN probe every few epochs

# In[1]:

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
dev = "cuda"
BANK, CLASSES = 49152, 12

# In[2]:

centres = torch.randn(CLASSES, 96, device=dev)


def draw(n):
    y = torch.randint(0, CLASSES, (n,), device=dev)
    base = centres[y] + 1.2 * torch.randn(n, 96, device=dev)
    return base, y


def view(x):
    return x * (torch.rand_like(x) > 0.25) + 0.2 * torch.randn_like(x)


encoder = nn.Sequential(nn.Linear(96, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 256)).to(dev)
opt = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)

# In[3]:

bank = torch.empty(0, 256, device=dev)
labels = torch.empty(0, dtype=torch.long, device=dev)
scores = []
running = 0.0
for epoch in range(130):
    for _ in range(4):
        x, y = draw(512)
        a, b = F.normalize(encoder(view(x)), dim=1), F.normalize(encoder(view(x)), dim=1)
        pos = (a * b).sum(1, keepdim=True)
        neg = a @ bank.T if len(bank) else a @ b.detach().roll(1, 0).T
        loss = F.cross_entropy(torch.cat([pos, neg], 1) / 0.1, torch.zeros(512, dtype=torch.long, device=dev))
        opt.zero_grad()
        loss.backward()
        opt.step()
        running = 0.95 * running + 0.05 * loss.item()
        bank = torch.cat([bank, b.detach()])[-BANK:]
        labels = torch.cat([labels, y])[-BANK:]

    if epoch % 5 == 4:
        found, truth = [], []
        with torch.no_grad():
            for _ in range(16):
                x, y = draw(1024)
                sim = F.normalize(encoder(x), dim=1) @ bank.T
                w, idx = sim.topk(200, dim=1)
                votes = torch.zeros(1024, CLASSES, device=dev).scatter_add_(1, labels[idx], (w / 0.1).exp())
                found.append(votes)
                truth.append(y)
        scores.append((torch.cat(found).argmax(1) == torch.cat(truth)).float().mean().item())

# In[4]:

print("kNN accuracy", [round(s, 3) for s in scores[::5]])

# In[5]:

print(f"bank {len(bank)} rows, running loss {running:.3f}, final kNN {scores[-1]:.3f}")
