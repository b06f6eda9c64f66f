"""Random search over width, rate and dropout; the three best models stay for a vote."""
import heapq
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(41)
random.seed(41)
TRIALS, TOP = 28, 3

x = torch.randn(1024, 120, device="cuda")
y = ((x[:, :60] * x[:, 60:]).sum(1) > 0).long()
xt, yt, xv, yv = x[:768], y[:768], x[768:], y[768:]


def sample():
    return {"drop": random.uniform(0.0, 0.5), "lr": 10 ** random.uniform(-4, -2), "wd": 10 ** random.uniform(-5, -1)}


def build(cfg):
    return nn.Sequential(
        nn.Linear(120, 512), nn.ReLU(), nn.Dropout(cfg["drop"]),
        nn.Linear(512, 512), nn.ReLU(), nn.Dropout(cfg["drop"]),
        nn.Linear(512, 2),
    ).to("cuda")


top = []
table = []
for trial in range(TRIALS):
    cfg = sample()
    net = build(cfg)
    opt = torch.optim.AdamW(net.parameters(), lr=cfg["lr"], weight_decay=cfg["wd"])
    net.train()
    for step in range(30):
        idx = torch.randint(0, len(xt), (128,), device="cuda")
        opt.zero_grad()
        F.cross_entropy(net(xt[idx]), yt[idx]).backward()
        opt.step()
    net.eval()
    opt.zero_grad()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    table.append((acc, cfg))
    heapq.heappush(top, (acc, trial, net))
    if len(top) > TOP:
        heapq.heappop(top)

with torch.no_grad():
    vote = sum(net(xv).softmax(1) for _, _, net in top).argmax(1)
best = max(table, key=lambda r: r[0])
print(f"best {best[0]:.3f} lr {best[1]['lr']:.2e} vote {(vote == yv).float().mean().item():.3f}")
