# %% [markdown]
# Double-pendulum surrogate: how wide does the network have to be?

# %%
import torch
from torch import nn

dev = "cuda"
torch.manual_seed(5)
In, Out = [], {}
_ = __ = ___ = None

# %% energies of random states
q = (torch.rand(30000, 4, device=dev) - 0.5) * 6
th1, th2, w1, w2 = q.unbind(1)
E = w1 ** 2 + 0.5 * w2 ** 2 + w1 * w2 * (th1 - th2).cos() - 19.6 * th1.cos() - 9.8 * th2.cos()
E = ((E - E.mean()) / E.std())[:, None]
feats = torch.cat([q, q.sin(), q.cos()], 1)

# %% first ever wider, then other learning rates for the better ones
plan = [(w, 1e-3) for w in range(128, 1537, 128)]
plan += [(w, lr) for lr in (3e-4, 1e-4) for w in (1536, 1280, 1408, 1152, 1536, 1024, 1280)]
print(len(plan), "settings")

# %%
for width, lr in plan:
    In.append(f"train({width}, {lr})")
    net = nn.Sequential(nn.Linear(12, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                        nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)).to(dev)
    opt = torch.optim.RMSprop(net.parameters(), lr=lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 110)

    # %%
    for it in range(110):
        idx = torch.randint(0, 28000, (1024,), device=dev)
        err = (net(feats[idx]) - E[idx]).pow(2).mean()
        opt.zero_grad()
        err.backward()
        opt.step()
        sched.step()

    # %%
    with torch.no_grad():
        rmse = (net(feats[28000:]) - E[28000:]).pow(2).mean().sqrt()
    Out[len(In)] = rmse.item()

    # %% last three results stay at hand
    ___, __, _ = __, _, net

# %% ensemble of the last three
with torch.no_grad():
    mix = (_(feats[28000:]) + __(feats[28000:]) + ___(feats[28000:])) / 3
    rmse = (mix - E[28000:]).pow(2).mean().sqrt().item()
k = min(Out, key=Out.get)
print(f"best {In[k - 1]} rmse={Out[k]:.4f}, last three together {rmse:.4f}")
