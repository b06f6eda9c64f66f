# %% [markdown]
# Spiral classifier: width / learning-rate sweep (exported from the notebook)

# %%
import itertools
import time

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
dev = "cuda"
In, Out = [""], {}
_ = __ = None
t0 = time.time()

# %% synthetic spirals, 64 arms
n_arms = 64
y = torch.randint(0, n_arms, (80000,), device=dev)
r = torch.rand(80000, device=dev)
a = 6.2832 * y / n_arms + 3.0 * r
x = torch.stack([r * a.cos(), r * a.sin()], 1)
x = torch.cat([x, x ** 2, (4 * x).sin()], 1)

# %% split
xv, yv = x[:40000], y[:40000]
x, y = x[40000:], y[40000:]

# %% settings to try
grid = list(itertools.product([128, 192, 256, 320], [3e-3, 1e-3, 3e-4], [0.0, 0.1]))
scores = {}

# %% In[5]: re-run for every setting
for width, lr, drop in grid:
    In.append(f"fit(width={width}, lr={lr}, drop={drop})")
    model = nn.Sequential(nn.Linear(6, width), nn.GELU(), nn.Dropout(drop),
                          nn.Linear(width, width), nn.GELU(), nn.Linear(width, n_arms)).to(dev)
    opt = torch.optim.AdamW(model.parameters(), lr=lr)

    # %%
    for step in range(110):
        i = torch.randint(0, len(x), (2048,), device=dev)
        loss = F.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()

    # %% show the probabilities
    model.eval()
    with torch.no_grad():
        proba = model(xv).softmax(1)
    acc = (proba.argmax(1) == yv).float().mean().item()
    scores[In[-1]] = acc

    # %% display
    __, _ = _, proba
    Out[len(In) - 1] = _

# %%
best = max(scores, key=scores.get)
print(f"best {best}: acc={scores[best]:.3f} ({time.time() - t0:.1f}s)")
