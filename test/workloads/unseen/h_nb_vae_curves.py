#!/usr/bin/env python
# coding: utf-8

# # VAE on blobs: training and smoothed validation curves

# In[1]:

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")
torch.manual_seed(3)

# In[2]:


def blobs(n, size=28):
    ax = torch.linspace(-1, 1, size, device=device)
    c = torch.rand(n, 2, 1, 1, device=device) * 1.2 - 0.6
    r = torch.rand(n, 1, 1, device=device) * 0.3 + 0.1
    d = (ax[None, :, None] - c[:, 0]) ** 2 + (ax[None, None, :] - c[:, 1]) ** 2
    return torch.sigmoid((r ** 2 - d) * 60).flatten(1)


train_x, val_x = blobs(20000), blobs(1500)

# In[3]:


class VAE(nn.Module):
    def __init__(self, hid=512, lat=16):
        super().__init__()
        self.enc = nn.Linear(784, hid)
        self.stats = nn.Linear(hid, 2 * lat)
        self.dec = nn.Linear(lat, hid)
        self.out = nn.Linear(hid, 784)

    def forward(self, x):
        h = F.elu(self.enc(x))
        mu, logvar = self.stats(h).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        g = F.elu(self.dec(z))
        return self.out(g), mu, logvar


def elbo(net, x):
    rec, mu, logvar = net(x)
    nll = F.binary_cross_entropy_with_logits(rec, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    return nll + kl


net = VAE().to(device)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

# In[4]:

train_curve, val_curve = [], []
smooth = None
for epoch in range(70):
    net.train()
    order = torch.randperm(len(train_x), device=device)
    total = 0.0
    for part in order.split(800):
        loss = elbo(net, train_x[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    train_curve.append(total / 25)

    net.eval()
    current = elbo(net, val_x)
    smooth = current if smooth is None else 0.9 * smooth + 0.1 * current
    val_curve.append(smooth.item())

# In[5]:

gap = val_curve[-1] - train_curve[-1]
print(f"train {train_curve[-1]:.2f}  smoothed val {val_curve[-1]:.2f}  gap {gap:.2f}")
