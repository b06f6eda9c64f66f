"""Evaluate an encoder on a growing noise level; a dashboard handler shows the log."""
import logging

import torch
from torch import nn
import torch.nn.functional as F

DEVICE = "cuda"
LEVELS = 20
BATCHES = 32
CLASSES = 1200

log = logging.getLogger("robustness")
log.setLevel(logging.DEBUG)
log.propagate = False


class Dashboard(logging.Handler):
    """Collects records; the page formats those that the user scrolls to."""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def tail(self, n):
        return [r.levelname + " " + r.msg.split()[0] for r in self.records[-n:]]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(),
                                  nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 512))
        self.prototypes = nn.Parameter(torch.randn(CLASSES, 512))

    def forward(self, x):
        return F.normalize(self.body(x), dim=1) @ F.normalize(self.prototypes, dim=1).T


@torch.no_grad()
def evaluate(model, centres, level):
    confusion = torch.zeros(CLASSES, CLASSES, device=DEVICE)
    for _ in range(BATCHES):
        labels = torch.randint(CLASSES, (4096,), device=DEVICE)
        clean = centres[labels]
        noisy = clean + level * torch.randn_like(clean)
        truth, guess = model(clean).argmax(1), model(noisy).argmax(1)
        confusion.index_put_((truth, guess), torch.ones(4096, device=DEVICE), accumulate=True)
    log.debug("confusion at %.2f: %s", level, confusion)
    agreement = confusion.diagonal().sum() / confusion.sum()
    log.info("agreement %.4f", agreement.item())
    return agreement.item()


torch.manual_seed(6)
dashboard = Dashboard()
log.addHandler(dashboard)
model = Classifier().to(DEVICE).eval()
centres = torch.randn(CLASSES, 1024, device=DEVICE)
curve = [evaluate(model, centres, 0.05 * i) for i in range(LEVELS)]
print(f"agreement {curve[0]:.3f} -> {curve[-1]:.3f}; log ends with {dashboard.tail(2)}")
