# %% [markdown]
# Sampling from a toy diffusion model, one figure for each seed

# %%
import math

import torch
from torch import nn

dev = "cuda"
torch.manual_seed(1)
torch.set_grad_enabled(False)


# %% tiny stand-in for pyplot (no display on this box)
class Figure:
    open_figs = {}

    def __init__(self, num):
        self.num = num
        self.artists = []
        Figure.open_figs[num] = self

    def imshow(self, img, title=""):
        self.artists.append((title, img))

    def savefig(self):
        return float(self.artists[-1][1].mean())


# %% denoiser
net = nn.Sequential(nn.Conv2d(4, 48, 3, padding=1), nn.SiLU(),
                    nn.Conv2d(48, 48, 3, padding=1), nn.SiLU(),
                    nn.Conv2d(48, 48, 3, padding=1), nn.SiLU(),
                    nn.Conv2d(48, 3, 3, padding=1)).to(dev).eval()

# %% schedule
T = 70
betas = torch.linspace(1e-4, 0.05, T)
alphas = 1 - betas
abar = alphas.cumprod(0).tolist()
alphas, betas = alphas.tolist(), betas.tolist()

# %%
means = []
for seed in range(90):
    g = torch.Generator(dev).manual_seed(seed)
    x = torch.randn(8, 3, 128, 128, device=dev, generator=g)

    # %% reverse process
    for t in range(T - 1, -1, -1):
        tt = torch.full_like(x[:, :1], t / T)
        eps = net(torch.cat([x, tt], 1))
        x = (x - betas[t] / math.sqrt(1 - abar[t]) * eps) / math.sqrt(alphas[t])
        if t:
            x = x + math.sqrt(betas[t]) * torch.randn_like(x)

    # %% plot
    fig = Figure(seed)
    panel = x.clamp(-1, 1).add(1).div(2)
    fig.imshow(panel, title=f"seed {seed}")
    means.append(fig.savefig())

# %%
print(f"{len(means)} samples, mean brightness {sum(means) / len(means):.4f}")
