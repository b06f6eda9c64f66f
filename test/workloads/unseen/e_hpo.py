"""Random search over a GRU forecaster with early pruning of poor trials."""
import math
import random

import torch
from torch import nn

DEV = "cuda"
TRIALS, STEPS = 26, 120


class TrialPruned(Exception):
    pass


class Study:
    def __init__(self):
        self.best = {}
        self.trials = []

    def report(self, step, value):
        bound = self.best.get(step, math.inf)
        self.best[step] = min(bound, value)
        if not value < bound * 1.02:
            raise TrialPruned(f"step {step}: {value:.4f} is above {bound:.4f}")

    def optimize(self, objective, n):
        for number in range(n):
            cfg = {"lr": 10 ** random.uniform(-4.5, -1.5), "wd": 10 ** random.uniform(-6, -2),
                   "hidden": random.choice([192, 256, 320]), "momentum": random.uniform(0.8, 0.95)}
            record = {"number": number, "params": cfg}
            try:
                record["value"], record["state"] = objective(self, cfg), "complete"
            except TrialPruned as why:
                record["state"], record["reason"] = "pruned", why
            self.trials.append(record)


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(8, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 8)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


def waves(n, length):
    t = torch.arange(length + 1, device=DEV).view(1, -1, 1) * 0.15
    freq, phase = torch.rand(n, 1, 8, device=DEV) + 0.5, torch.rand(n, 1, 8, device=DEV) * 6.28
    w = torch.sin(t * freq + phase)
    return w[:, :-1], w[:, 1:]


def objective(study, cfg):
    model = Forecaster(cfg["hidden"]).to(DEV)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=cfg["wd"], betas=(cfg["momentum"], 0.99))
    vx, vy = waves(256, 48)
    for step in range(1, STEPS + 1):
        x, y = waves(128, 48)
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 0:
            with torch.no_grad():
                value = (model(vx) - vy).square().mean().item()
            study.report(step, value)
    return value


random.seed(4)
torch.manual_seed(4)
study = Study()
study.optimize(objective, TRIALS)
done = [t for t in study.trials if t["state"] == "complete"]
print(f"search: {len(done)} complete, {TRIALS - len(done)} pruned, best {min(t['value'] for t in done):.5f}")
