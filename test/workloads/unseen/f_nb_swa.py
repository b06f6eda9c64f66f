# %% [markdown]
# VAE on random textures; averaging the weights of the last snapshots

# %%
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

dev = "cuda"
torch.manual_seed(7)

# %% textures
base = torch.randn(2000, 1, 7, 7, device=dev)
imgs = F.interpolate(base, size=(28, 28), mode="bilinear").sigmoid().flatten(1)
test, imgs = imgs[:400], imgs[400:]

# %% networks
enc = nn.Sequential(nn.Linear(784, 1024), nn.ELU(), nn.Linear(1024, 512), nn.ELU(), nn.Linear(512, 64))
dec = nn.Sequential(nn.Linear(32, 512), nn.ELU(), nn.Linear(512, 1024), nn.ELU(), nn.Linear(1024, 784))
vae = nn.ModuleDict({"enc": enc, "dec": dec}).to(dev)
opt = torch.optim.NAdam(vae.parameters(), lr=1e-3)

# %%
snaps = deque(maxlen=14)
log = []

# %% epochs
for epoch in range(65):
    for b in torch.randperm(len(imgs), device=dev).split(50):
        x = imgs[b]
        mu, logvar = vae["enc"](x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        rec = vae["dec"](z).sigmoid()
        kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
        loss = F.binary_cross_entropy(rec, x) * 784 + 0.5 * kl
        opt.zero_grad()
        loss.backward()
        opt.step()

    # %% snapshot
    state = {k: v.detach().clone() for k, v in vae.state_dict().items()}
    snaps.append(state)
    log.append(loss.item())

    # %% score of the average of all snapshots
    if epoch % 10 == 9:
        mean = {k: sum(s[k] for s in snaps) / len(snaps) for k in state}
        vae.load_state_dict(mean)
        with torch.no_grad():
            rec = vae["dec"](vae["enc"](test).chunk(2, 1)[0]).sigmoid()
            swa = F.mse_loss(rec, test).item()
        vae.load_state_dict(snaps[-1])

# %%
print(f"loss {log[0]:.1f} -> {log[-1]:.1f}, averaged mse {swa:.5f} over {len(snaps)} snapshots")
