"""Bayesian optimisation of a noisy 8-d function with a windowed Gaussian process."""
import math

import torch

DEV = "cuda"
DIM, WINDOW, TRIALS, BATCH = 8, 1400, 24, 16


def target(x):
    base = (x - 0.3).pow(2).sum(-1) + 0.3 * torch.sin(9 * x).sum(-1)
    return -base + 0.05 * torch.randn_like(base)


def rbf(a, b, scale):
    return torch.exp(-0.5 * torch.cdist(a / scale, b / scale, compute_mode="donot_use_mm_for_euclid_dist").pow(2))


class Study:
    def __init__(self):
        self.x = torch.rand(WINDOW, DIM, device=DEV)
        self.y = target(self.x)
        self.log_scale = torch.full((DIM,), math.log(0.5), device=DEV, requires_grad=True)
        self.log_noise = torch.tensor(-2.0, device=DEV, requires_grad=True)
        self.acquisitions = []

    def gram(self):
        k = rbf(self.x, self.x, self.log_scale.exp())
        return k + (self.log_noise.exp() + 1e-3) * torch.eye(len(self.x), device=DEV)

    def fit(self, steps=15):
        opt = torch.optim.Adam([self.log_scale, self.log_noise], lr=0.03)
        y = (self.y - self.y.mean()).unsqueeze(1)
        for _ in range(steps):
            chol = torch.linalg.cholesky(self.gram())
            fit = (y * torch.cholesky_solve(y, chol)).sum()
            nll = 0.5 * fit + chol.diagonal().log().sum()
            opt.zero_grad()
            nll.backward()
            opt.step()
        return nll.item() / len(y)

    @torch.no_grad()
    def build_acquisition(self):
        chol = torch.linalg.cholesky(self.gram())
        mean_y, scale = self.y.mean(), self.log_scale.exp()
        weights = torch.cholesky_solve((self.y - mean_y).unsqueeze(1), chol)
        x_seen = self.x

        def upper_bound(cand):
            k = rbf(cand, x_seen, scale)
            mean = mean_y + (k @ weights).squeeze(1)
            proj = torch.linalg.solve_triangular(chol, k.t(), upper=False)
            return mean + 2.0 * (1 - proj.pow(2).sum(0)).clamp_min(1e-6).sqrt()

        return upper_bound

    @torch.no_grad()
    def suggest(self):
        self.acquisitions.append(self.build_acquisition())
        cand = torch.rand(4096, DIM, device=DEV)
        score = sum(fn(cand) for fn in self.acquisitions[-3:])
        return cand[score.topk(BATCH).indices]

    def tell(self, x, y):
        self.x = torch.cat([self.x, x])[-WINDOW:]
        self.y = torch.cat([self.y, y])[-WINDOW:]


torch.manual_seed(3)
study, best = Study(), -1e9
for trial in range(TRIALS):
    nll = study.fit()
    points = study.suggest()
    values = target(points)
    study.tell(points, values)
    best = max(best, values.max().item())
print(f"trials {TRIALS} best {best:.4f} nll {nll:.3f}")
