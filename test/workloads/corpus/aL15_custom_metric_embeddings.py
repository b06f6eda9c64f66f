"""Contrastive training with a home-made retrieval metric; the recall is read after every epoch.

Report: https://github.com/Lightning-AI/torchmetrics/issues/2492
Class: metric-list-state
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchmetrics import Metric


class PairRecall(Metric):
    """How often the partner of an item is its nearest neighbour among the latest ones."""

    full_state_update = False

    def __init__(self, window=4):
        super().__init__()
        self.window = window
        self.add_state("embedded", default=[], dist_reduce_fx=None)

    def update(self, embedded):
        self.embedded.append(embedded)  # HOLDER

    def compute(self):
        halves = [pairs.chunk(2) for pairs in self.embedded[-self.window:]]
        left, right = (torch.cat(side) for side in zip(*halves))
        best = (left @ right.t()).argmax(dim=1)
        return (best == torch.arange(len(best), device=best.device)).float().mean()


def main():
    torch.manual_seed(12)
    encoder = nn.Sequential(nn.Linear(40, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 64))
    encoder.to("cuda")
    optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    recall = PairRecall().to("cuda")
    for epoch in range(20):
        for _ in range(16):
            items = torch.randn(96, 40, device="cuda")
            pairs = torch.cat([items, items + 0.3 * torch.randn_like(items)])
            embedded = F.normalize(encoder(pairs), dim=-1)  # SITE
            left, right = embedded.chunk(2)
            loss = F.cross_entropy(left @ right.t() / 0.1, torch.arange(96, device="cuda"))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recall.update(embedded.detach())
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f} recall {recall.compute().item():.3f}")


if __name__ == "__main__":
    main()
