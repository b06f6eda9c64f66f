"""Multi-horizon forecasting with a dilated TCN; the context grows during training."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
SERIES, LENGTH, HORIZON = 512, 3000, 48
EPOCHS, STEPS = 14, 14


class TCN(nn.Module):
    def __init__(self, width=96, depth=6):
        super().__init__()
        self.inp = nn.Conv1d(1, width, 1)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 3, dilation=2 ** i) for i in range(depth))
        self.out = nn.Linear(width, HORIZON)

    def forward(self, x):
        h = self.inp(x.unsqueeze(1))
        for i, conv in enumerate(self.convs):
            h = h + F.gelu(conv(F.pad(h, (2 * 2 ** i, 0))))
        return self.out(h[:, :, -1])


def make_series():
    t = torch.arange(LENGTH, device=DEV).float()
    period = 20 + 60 * torch.rand(SERIES, 1, device=DEV)
    trend = torch.randn(SERIES, 1, device=DEV) * 2e-4 * t
    return torch.sin(6.283 * t / period) + trend + 0.1 * torch.randn(SERIES, LENGTH, device=DEV)


@torch.no_grad()
def backtest(model, data, context):
    """Rolling-origin evaluation of the last part of each series."""
    preds, truth = [], []
    for origin in range(LENGTH - 600, LENGTH - HORIZON, 24):
        preds.append(model(data[:, origin - context:origin]))
        truth.append(data[:, origin:origin + HORIZON])
    err = (torch.cat(preds) - torch.cat(truth)).abs()
    return err.mean().item()


torch.manual_seed(2)
data = make_series()
model, averaged = TCN().to(DEV), None
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
scores = []
for epoch in range(EPOCHS):
    context = min(128 + 64 * epoch, 512)
    for step in range(STEPS):
        end = int(torch.randint(context, LENGTH - 600 - HORIZON, (1,)))
        rows = torch.randperm(SERIES, device=DEV)[:256]
        x, y = data[rows, end - context:end], data[rows, end:end + HORIZON]
        loss = F.smooth_l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if averaged is not None:
            with torch.no_grad():
                for p_avg, p in zip(averaged.parameters(), model.parameters()):
                    p_avg.lerp_(p, 0.01)
    if epoch == 4:
        averaged = copy.deepcopy(model)
    scores.append(backtest(averaged or model, data, context))
print("mae first %.4f last %.4f" % (scores[0], scores[-1]))
