"""Trains a two-tower retrieval model and follows its mean reciprocal rank with torchmetrics.
Report: https://github.com/Lightning-AI/torchmetrics/issues/2481
Class: metric-state
"""
import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics import MetricCollection
from torchmetrics.retrieval import RetrievalHitRate, RetrievalMRR


def tower(in_dim, out_dim=48):
    return nn.Sequential(nn.Linear(in_dim, 512), nn.ReLU(), nn.Linear(512, out_dim))


def main():
    torch.manual_seed(51)
    queries, items = tower(40).to("cuda"), tower(60).to("cuda")
    optimizer = torch.optim.Adam([*queries.parameters(), *items.parameters()], lr=1e-3)
    metrics = MetricCollection({"mrr": RetrievalMRR(), "hit@5": RetrievalHitRate(top_k=5)}, compute_groups=False)
    metrics = metrics.to("cuda")
    to_query, to_item = torch.randn(16, 40, device="cuda"), torch.randn(16, 60, device="cuda")
    size = 32
    for step in range(400):
        latent = torch.randn(size, 16, device="cuda")
        q = F.normalize(queries(latent @ to_query), dim=1)
        i = F.normalize(items(latent @ to_item + 0.5), dim=1)
        scores = q @ i.T  # ALSO
        loss = F.cross_entropy(scores / 0.1, torch.arange(size, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        relevant = torch.eye(size, dtype=torch.bool, device="cuda")
        query_id = torch.arange(size, device="cuda").repeat_interleave(size) + step * size  # ALSO
        if step % 5 == 4:
            metrics.update(scores.detach().flatten(), relevant.flatten(), indexes=query_id)  # SITE HOLDER
        if step % 80 == 79:
            print(f"step {step}: loss {loss.item():.3f}")
    print({name: round(value.item(), 3) for name, value in metrics.compute().items()})


if __name__ == "__main__":
    main()
