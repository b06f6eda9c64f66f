# %% [markdown]
# 2-D wave equation with an obstacle; a figure every 200 steps

# %%
from collections import OrderedDict

import torch

dev = "cuda"
torch.manual_seed(8)
torch.set_grad_enabled(False)

# %% grid
N = 1024
yy, xx = torch.meshgrid(torch.arange(N, device=dev), torch.arange(N, device=dev), indexing="ij")
c2 = torch.full((N, N), 0.24, device=dev)
c2[((xx - 600) ** 2 + (yy - 512) ** 2) < 90 ** 2] = 0.05

# %% the window manager of the dashboard: no more than 24 open figures
figs = OrderedDict()
MAX_OPEN = 24


def show(num, data):
    figs[num] = data
    while len(figs) > MAX_OPEN:
        figs.popitem(last=False)


# %% one step
def lap(u):
    out = -4 * u
    out[1:] += u[:-1]
    out[:-1] += u[1:]
    out[:, 1:] += u[:, :-1]
    out[:, :-1] += u[:, 1:]
    return out


# %% initial pulse
u = torch.exp(-((xx - 250.0) ** 2 + (yy - 512.0) ** 2) / 200)
u_old = u.clone()
energy = []

# %% time loop
for frame in range(85):
    for step in range(200):
        u_new = (2 * u - u_old + c2 * lap(u)).mul_(0.9999)
        u_old, u = u, u_new

    # %% figure of this moment
    img = u.abs().sqrt()
    show(frame, img)
    energy.append((u - u_old).pow(2).sum().item())

    # %% a second pulse now and then
    if frame % 20 == 19:
        u = u + torch.exp(-((xx - 800.0) ** 2 + (yy - 200.0) ** 2) / 150)

# %% average picture of the open windows
movie = torch.stack(list(figs.values())).mean(0)
print(f"{len(figs)} figures open, energy {energy[0]:.3f} -> {energy[-1]:.3f}, brightest {movie.max().item():.4f}")
