"""Trains GraphSAGE on k-hop subgraphs around random seed nodes and caches the subgraphs, as sampling them is slow.

Report: https://github.com/pyg-team/pytorch_geometric/issues/1637
Class: dict-cache
"""
import torch
import torch.nn as nn
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import k_hop_subgraph

NODES = 3000


class Sage(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.first = SAGEConv(features, hidden)
        self.second = SAGEConv(hidden, classes)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


class SubgraphSampler:
    def __init__(self, edge_index):
        self.edge_index = edge_index
        self.cache = {}

    def sample(self, seeds):
        key = tuple(seeds)
        if key not in self.cache:
            nodes, edges, mapping, _ = k_hop_subgraph(  # SITE
                list(seeds), 2, self.edge_index, relabel_nodes=True, num_nodes=NODES)
            self.cache[key] = (nodes, edges, mapping)  # HOLDER
        return self.cache[key]


def main():
    torch.manual_seed(26)
    edge_index = torch.randint(0, NODES, (2, 12000), device="cuda")
    x = torch.randn(NODES, 24, device="cuda")
    y = x[:, :5].argmax(dim=1)
    model = Sage(24, 32, 5).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    sampler = SubgraphSampler(edge_index)
    for step in range(240):
        seeds = torch.randperm(NODES)[:12].sort().values.tolist()
        nodes, edges, mapping = sampler.sample(seeds)
        logits = model(x[nodes], edges)[mapping]
        loss = nn.functional.cross_entropy(logits, y[nodes[mapping]])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 60 == 59:
            print(f"step {step + 1}: loss {loss.item():.3f}, subgraph of {len(nodes) // 100 * 100}+ nodes")


if __name__ == "__main__":
    main()
