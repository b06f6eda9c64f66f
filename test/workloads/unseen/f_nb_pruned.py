# %% [markdown]
# Two-tower recommender, random search with pruning

# %%
import random

import torch
from torch import nn
import torch.nn.functional as F

random.seed(4)
torch.manual_seed(4)
dev = "cuda"

# %% interactions
n_users, n_items = 6000, 3000
users = torch.randint(0, n_users, (200000,), device=dev)
items = (users * 7 + torch.randint(0, 40, (200000,), device=dev)) % n_items
holdout = torch.randint(0, 200000, (2048,), device=dev)


# %%
class TrialPruned(Exception):
    pass


# %%
def run_trial(dim, lr, steps=110):
    tu = nn.Embedding(n_users, dim, device=dev)
    ti = nn.Embedding(n_items, dim, device=dev)
    opt = torch.optim.Adagrad([*tu.parameters(), *ti.parameters()], lr=lr)
    for step in range(steps):
        b = torch.randint(0, 200000, (1024,), device=dev)
        logits = tu(users[b]) @ ti(items[b]).T
        loss = F.cross_entropy(logits, torch.arange(1024, device=dev))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step == steps - 10:
            with torch.no_grad():
                sim = tu(users[holdout]) @ ti.weight.T
                hit = (sim.topk(20).indices == items[holdout][:, None]).any(1).float().mean().item()
            if hit < 0.9:
                raise TrialPruned(f"hit@20 {hit:.3f} at step {step}")
    return hit


# %%
study = {"best": 0.0, "trials": []}

# %% this cell was executed again and again
for n in range(27):
    cfg = {"dim": random.choice([48, 64, 96]), "lr": 10 ** random.uniform(-3, -1)}
    try:
        value, why = run_trial(**cfg), None
    except TrialPruned as err:
        value, why = 0.0, err
    study["best"] = max(study["best"], value)
    study["trials"].append((cfg, value, why))

# %%
n_pruned = sum(t[2] is not None for t in study["trials"])
print(f"{len(study['trials'])} trials, {n_pruned} pruned, best {study['best']:.3f}")
