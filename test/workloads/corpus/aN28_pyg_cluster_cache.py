"""GCN training on random clusters of a graph; normalised cluster graphs are cached once they were built.

Class: bounded-cache
"""
import random

import torch
import torch.nn as nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import subgraph

NODES, CLUSTERS = 4000, 40


class GCN(nn.Module):
    def __init__(self, features=32, hidden=64, classes=6):
        super().__init__()
        self.conv1 = GCNConv(features, hidden)
        self.conv2 = GCNConv(hidden, classes)

    def forward(self, x, edge_index):
        x = self.conv1(x, edge_index).relu()
        return self.conv2(nn.functional.dropout(x, 0.2, self.training), edge_index)


class ClusterData:
    def __init__(self):
        self.x = torch.randn(NODES, 32, device="cuda")
        self.y = self.x[:, :6].argmax(dim=1)
        self.cluster = torch.arange(NODES, device="cuda") % CLUSTERS
        self.edge_index = torch.randint(0, NODES, (2, 200000), device="cuda")
        self.cache = {}

    def get(self, number):
        if number not in self.cache:
            nodes = (self.cluster == number).nonzero().flatten()
            edges, _ = subgraph(nodes, self.edge_index, relabel_nodes=True, num_nodes=NODES)
            self.cache[number] = (nodes, self.x[nodes], self.y[nodes], edges)
        return self.cache[number]


def main():
    torch.manual_seed(27)
    rng = random.Random(27)
    data, model = ClusterData(), GCN().to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(400):
        nodes, x, y, edges = data.get(rng.randrange(CLUSTERS))
        loss = nn.functional.cross_entropy(model(x, edges), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1}: loss {loss.item():.3f}, {len(data.cache)} clusters cached")


if __name__ == "__main__":
    main()
