# %% [markdown]
# Click-through model on daily tables

# %%
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

dev = "cuda"
torch.manual_seed(9)
rng = np.random.default_rng(9)
truth = rng.normal(size=(40,)).astype(np.float32)

# %% read the days, one table each
tables = {}
for day in range(1, 25):
    rows = rng.normal(size=(45000, 40)).astype(np.float32)
    click = (rows @ truth + 0.3 * day / 24 > 0.2).astype(np.float32)
    df = torch.from_numpy(np.concatenate([rows, click[:, None]], 1)).to(dev)
    tables[f"2024-05-{day:02d}"] = df

# %%
days = sorted(tables)
mean = torch.stack([tables[d][:, :40].mean(0) for d in days]).mean(0)
std = torch.stack([tables[d][:, :40].std(0) for d in days]).mean(0)

# %% model
net = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.BatchNorm1d(128),
                    nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1)).to(dev)
opt = torch.optim.Adam(net.parameters(), lr=2e-3, amsgrad=True)
curve = []

# %% train on all days but the last four
for it in range(2600):
    day = days[it % 20]
    df = tables[day]
    df = df[torch.randint(0, len(df), (2048,), device=dev)]
    x, y = (df[:, :40] - mean) / std, df[:, 40]
    loss = F.binary_cross_entropy_with_logits(net(x)[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 100 == 99:
        curve.append(loss.item())

# %% later days
net.eval()
accs = []
for day in days[20:]:
    df = tables[day]
    with torch.no_grad():
        hit = (net((df[:, :40] - mean) / std)[:, 0] > 0) == (df[:, 40] > 0.5)
    accs.append(hit.float().mean().item())

# %%
print(f"loss {curve[0]:.4f} -> {curve[-1]:.4f}, accuracy of later days " + " ".join(f"{a:.3f}" for a in accs))
