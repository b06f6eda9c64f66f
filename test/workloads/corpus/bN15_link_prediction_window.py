"""Link prediction with negative sampling; stops early when the moving window of losses no longer improves.
Report: https://github.com/pyg-team/pytorch_geometric/issues/1595
Class: moving-window
"""
import collections

import torch
import torch.nn.functional as F
from torch_geometric.nn.models import GraphSAGE
from torch_geometric.utils import barabasi_albert_graph, negative_sampling, to_undirected

WINDOW = 150


def main():
    torch.manual_seed(37)
    num_nodes = 800
    edge_index = to_undirected(barabasi_albert_graph(num_nodes, 5)).to("cuda")
    x = torch.nn.Parameter(0.1 * torch.randn(num_nodes, 32, device="cuda"))
    model = GraphSAGE(32, hidden_channels=48, num_layers=2, out_channels=24).to("cuda")
    optimizer = torch.optim.Adam([x, *model.parameters()], lr=5e-3)
    recent = collections.deque(maxlen=WINDOW)  # per-edge losses of the last steps
    best, patience = float("inf"), 0
    for step in range(360):
        z = model(x, edge_index)
        negative = negative_sampling(edge_index, num_nodes=num_nodes, num_neg_samples=1500)
        positive = edge_index[:, torch.randperm(edge_index.size(1), device="cuda")[:1500]]
        pairs = torch.cat([positive, negative], dim=1)
        logits = (z[pairs[0]] * z[pairs[1]]).sum(dim=1)
        target = torch.zeros(pairs.size(1), device="cuda")
        target[:positive.size(1)] = 1.0
        losses = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        recent.append(losses.detach())
        mean = torch.cat(tuple(recent)).mean().item()
        patience = 0 if mean < best - 1e-4 else patience + 1
        best = min(best, mean)
        if patience > 300:
            break
        if step % 90 == 0:
            print(f"step {step}: window mean {mean:.4f} over {len(recent)} steps")


if __name__ == "__main__":
    main()
