"""AUC and calibration of a click model on several days of traffic."""
import torch
import torch.nn as nn

torch.manual_seed(16)
device = "cuda"
DAYS, BATCHES, BATCH, FIELDS, DIM = 16, 40, 16384, 12, 16


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.Embedding(FIELDS * 10_000, DIM)
        self.register_buffer("offset", torch.arange(FIELDS) * 10_000)
        self.mlp = nn.Sequential(nn.Linear(FIELDS * DIM, 256), nn.ReLU(), nn.Linear(256, 64))
        self.last = nn.Linear(64, 1)

    def forward(self, ids):
        e = self.tables(ids + self.offset)
        cross = 0.5 * (e.sum(1).square() - e.square().sum(1)).sum(1)
        hidden = torch.relu(self.mlp(e.flatten(1)))
        return hidden, self.last(hidden)[:, 0] + 0.01 * cross


def traffic(day):
    gen = torch.Generator(device=device).manual_seed(100 + day)
    for _ in range(BATCHES):
        ids = torch.randint(0, 10_000, (BATCH, FIELDS), generator=gen, device=device)
        rate = 0.1 + 0.2 * (ids[:, 0] % 3 == day % 3)
        yield ids, torch.rand(BATCH, generator=gen, device=device) < rate


def auc(scores, labels):
    order = scores.argsort()
    rank = torch.empty_like(scores, dtype=torch.double)
    rank[order] = torch.arange(1, len(scores) + 1, device=device, dtype=torch.double)
    pos = labels.sum().double()
    neg = len(labels) - pos
    return ((rank[labels].sum() - pos * (pos + 1) / 2) / (pos * neg)).item()


@torch.no_grad()
def evaluate(model, day):
    feats, scores, labels = [], [], []
    for ids, y in traffic(day):
        hidden, logit = model(ids)
        feats.append(hidden)
        scores.append(logit)
        labels.append(y)
    scores, labels = torch.cat(scores), torch.cat(labels)
    drift = torch.cat(feats).mean(0)
    edges = scores.quantile(torch.linspace(0, 1, 11, device=device))
    bins = edges.unique().numel() - 1
    return auc(scores, labels), labels.float().mean().item(), drift.cpu(), bins


model = ClickModel().to(device).eval()
report, previous, moved = {}, None, 0.0
for day in range(DAYS):
    value, rate, drift, bins = evaluate(model, day)
    report[day] = (value, rate)
    if previous is not None:
        moved = max(moved, (drift - previous).norm().item())
    previous = drift
mean_auc = sum(v for v, _ in report.values()) / DAYS
print(f"mean auc {mean_auc:.4f} drift {moved:.5f} bins {bins}")
