#!/usr/bin/env python
# coding: utf-8

# In[1]:

import itertools
import time

import torch
import torch.nn as nn

device = "cuda"
torch.manual_seed(7)

# In[2]:  synthetic churn table

n_rows, n_cols = 40000, 64
X = torch.randn(n_rows, n_cols, device=device)
w_true = torch.randn(n_cols, 12, device=device)
y = ((X @ w_true).relu().sum(1) > 37.0).float()
X_tr, y_tr, X_va, y_va = X[:32000], y[:32000], X[32000:], y[32000:]
print("positives", y.mean().item())

# In[3]:


def build(width, drop):
    return nn.Sequential(
        nn.Linear(n_cols, width), nn.ReLU(), nn.Dropout(drop),
        nn.Linear(width, width), nn.ReLU(), nn.Dropout(drop),
        nn.Linear(width, 1),
    ).to(device)


@torch.no_grad()
def accuracy(net):
    net.eval()
    hit = ((net(X_va).squeeze(1) > 0) == (y_va > 0.5)).float().mean()
    net.train()
    return hit.item()


# In[4]:

trials = {}
bce = nn.BCEWithLogitsLoss()
t0 = time.time()
for lr, drop, seed in itertools.product([3e-4, 1e-3, 3e-3], [0.0, 0.2], range(4)):
    torch.manual_seed(seed)
    net = build(1024, drop)
    opt = torch.optim.AdamW(net.parameters(), lr=lr)
    for it in range(90):
        idx = torch.randint(0, len(X_tr), (4096,), device=device)
        loss = bce(net(X_tr[idx]).squeeze(1), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    trials[lr, drop, seed] = {
        "acc": accuracy(net),
        "train_loss": loss.item(),
        "net": net,
        "opt": opt,
    }

# In[5]:

ranked = sorted(trials.items(), key=lambda kv: -kv[1]["acc"])
for key, row in ranked[:3]:
    print(key, round(row["acc"], 4), round(row["train_loss"], 4))

# In[6]:

print(f"best config {ranked[0][0]} acc {ranked[0][1]['acc']:.4f} of {len(trials)} trials in {time.time() - t0:.1f}s")
