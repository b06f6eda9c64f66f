"""Deep ensemble for heteroscedastic regression; members train in turn on their own bootstrap shard."""
import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
MEMBERS, ROUNDS, ROWS, FEATS = 12, 130, 40_000, 48


class Member(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(FEATS, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 2))

    def forward(self, x):
        mean, raw = self.net(x).unbind(-1)
        return mean, F.softplus(raw) + 1e-3


def world(n):
    x = torch.randn(n, FEATS, device=DEV)
    y = torch.sin(x[:, 0] * 3) + 0.5 * x[:, 1] ** 2
    return x, y + (0.1 + 0.2 * x[:, 2].abs()) * torch.randn(n, device=DEV)


def make_optimizer(i, params):
    if i % 3 == 0:
        return torch.optim.AdamW(params, lr=2e-3)
    if i % 3 == 1:
        return torch.optim.RMSprop(params, lr=5e-4, momentum=0.5)
    return torch.optim.Adagrad(params, lr=1e-2)


def main():
    torch.manual_seed(6)
    x, y = world(ROWS)
    members, optimizers, shards = [], [], []
    for i in range(MEMBERS):
        model = Member(640).to(DEV)
        rows = torch.randint(0, ROWS, (ROWS,), device=DEV)
        members.append(model)
        optimizers.append(make_optimizer(i, model.parameters()))
        shards.append((x[rows], y[rows]))
    for _ in range(ROUNDS):
        for model, opt, (sx, sy) in zip(members, optimizers, shards):
            pick = torch.randint(0, ROWS, (1024,), device=DEV)
            mean, sigma = model(sx[pick])
            loss = F.gaussian_nll_loss(mean, sy[pick], sigma ** 2)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
    with torch.no_grad():
        tx, ty = world(8000)
        means = torch.stack([m(tx)[0] for m in members])
        rmse = (means.mean(0) - ty).square().mean().sqrt().item()
    print(f"deep ensemble: rmse {rmse:.3f} disagreement {means.std(0).mean().item():.3f}")


main()
