"""Learns online from a stream of transactions and reports the area under the ROC curve."""
import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics.aggregation import MeanMetric
from torchmetrics.classification import BinaryAUROC

DEVICE = "cuda"


class Stream:
    def __init__(self, seed, batch):
        self.gen = torch.Generator().manual_seed(seed)
        self.batch = batch
        self.weights = torch.randn(24, generator=self.gen)

    def __iter__(self):
        while True:
            x = torch.randn(self.batch, 24, generator=self.gen)
            noise = 0.7 * torch.randn(self.batch, generator=self.gen)
            y = (x @ self.weights + noise > 2.0).to(torch.uint8)
            yield x.to(DEVICE), y.to(DEVICE)


def run(steps):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1)).to(DEVICE)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    auroc = BinaryAUROC(thresholds=None, validate_args=False).to(DEVICE)
    mean_loss = MeanMetric().to(DEVICE)
    for step, (x, y) in enumerate(Stream(9, 2048), start=1):
        logits = net(x).squeeze(-1)
        loss = F.binary_cross_entropy_with_logits(logits, y.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        auroc.update(logits.detach(), y)  # SITE HOLDER
        mean_loss.update(loss.detach())
        if step % 120 == 0:
            print(f"step {step}: loss {mean_loss.compute():.4f} auroc {auroc.compute():.4f}")
            mean_loss.reset()
        if step == steps:
            break


run(600)
