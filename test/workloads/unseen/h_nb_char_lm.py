#!/usr/bin/env python
# coding: utf-8

# # Char-level GRU: how does the next-token distribution sharpen?

# In[1]:

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)

# In[2]:

words = ["red", "lorry", "yellow", "river", "stone", "quick", "amber", "north", "glass", "winter"]
text = " ".join(random.choice(words) for _ in range(60000))
vocab = sorted(set(text))
lookup = {c: i for i, c in enumerate(vocab)}
data = torch.tensor([lookup[c] for c in text], device="cuda")
V = 512  # padded so that other corpora fit as well
print(len(text), "chars,", len(vocab), "symbols")

# In[3]:


class CharGRU(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.emb = nn.Embedding(V, dim)
        self.rnn = nn.GRU(dim, dim, num_layers=2, batch_first=True)
        self.head = nn.Linear(dim, V)

    def forward(self, ids):
        h, _ = self.rnn(self.emb(ids))
        return self.head(h)


lm = CharGRU().to("cuda")
opt = torch.optim.RMSprop(lm.parameters(), lr=2e-3)


def windows(n, length):
    start = torch.randint(0, len(data) - length - 1, (n, 1), device="cuda")
    pos = start + torch.arange(length + 1, device="cuda")
    chunk = data[pos]
    return chunk[:, :-1], chunk[:, 1:]


# In[4]:

first_row = {}
best = float("inf")
for step in range(360):
    ids, target = windows(24, 100)
    logits = lm(ids)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
    opt.step()
    best = min(best, loss.item())
    if step % 2 == 0:
        first_row[step] = logits.detach()[0, -1]

# In[5]:


def entropy(row):
    p = row.softmax(-1)
    return -(p * p.clamp_min(1e-9).log()).sum().item()


curve = {s: entropy(r) for s, r in first_row.items()}
print("entropy every 60 steps:", [round(curve[s], 2) for s in range(0, 360, 60)])

# In[6]:

print(f"best loss {best:.3f}, entropy {curve[0]:.2f} -> {curve[358]:.2f}")
