# %% [markdown]
# Gaussian process with too little jitter, debugged by hand

# %%
import sys

import torch

dev = "cuda"
torch.manual_seed(6)
torch.set_grad_enabled(False)

# %% data
X = torch.rand(4000, 3, device=dev)
f = (5 * X[:, 0]).sin() + (3 * X[:, 1]).cos() * X[:, 2]
y = f + 0.05 * torch.randn_like(f)
Xs = torch.rand(600, 3, device=dev)


# %%
def rbf(a, b, ell):
    return torch.exp(-0.5 * torch.cdist(a, b).pow(2) / ell ** 2)


# %%
def factor(n, ell, jitter):
    K = rbf(X[:n], X[:n], ell)
    K.diagonal().add_(jitter)
    return torch.linalg.cholesky(K)


# %% what IPython's %debug would show
def post_mortem(tb):
    while tb is not None:
        scope = tb.tb_frame.f_locals
        if "K" in scope and tb.tb_frame.f_code.co_name == "factor":
            return scope["K"].diagonal().mean().item(), scope["K"].abs().sum(1).max().item()
        tb = tb.tb_next


# %%
factors, notes, errors = [], [], 0

# %% ell and n by hand; the number of points goes up to 4000
for trial in range(28):
    n = min(1000 + 500 * trial, 4000)
    ell = 0.8 + 0.1 * (trial % 6)
    jitter, L = 0.0, None
    while L is None:
        try:
            L = factor(n, ell, jitter)
        except torch.linalg.LinAlgError as exc:
            sys.last_type, sys.last_value, sys.last_traceback = type(exc), exc, exc.__traceback__
            diag, row = post_mortem(sys.last_traceback)
            jitter = max(10 * jitter, 1e-7 * row / diag)
            errors += 1

    # %% posterior
    factors = (factors + [L])[-6:]
    Ks = rbf(X[:n], Xs, ell)
    alpha = torch.cholesky_solve(y[:n, None], L)
    mean = (Ks.T @ alpha)[:, 0]
    V = torch.linalg.solve_triangular(L, Ks, upper=False)
    var = (1 - (V * V).sum(0)).clamp_min(0)

    # %% samples of the prior from the last few factors
    spread = 0.0
    for L in factors:
        for draw in range(12):
            spread += (L @ torch.randn(len(L), 256, device=dev)).std().item()
    notes.append((n, ell, jitter, mean.std().item(), var.mean().item(), spread / len(factors) / 12))

# %%
print(f"{errors} failed factorisations, last: " + " ".join(f"{v:.4g}" for v in notes[-1]))
