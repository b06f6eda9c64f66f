"""Trains a graph network on sampled neighbourhoods with a table of historical embeddings and a subgraph cache."""
import random
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import k_hop_subgraph

DEVICE = "cuda"
NODES = 2000
CAPACITY = 12


class HistoryNet(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inner = SAGEConv(32, dim)
        self.outer = SAGEConv(2 * dim, 5)
        self.register_buffer("history", torch.zeros(NODES, dim))

    def forward(self, x, edge_index, nodes):
        h = self.inner(x, edge_index).relu()
        old = self.history[nodes]
        mixed = 0.8 * old + 0.2 * h
        self.history[nodes] = mixed.detach()
        return self.outer(torch.cat([h, mixed], dim=-1), edge_index)


class Neighbourhoods:
    def __init__(self, edge_index):
        self.edge_index = edge_index
        self.recent = OrderedDict()
        self.misses = 0

    def __getitem__(self, part):
        if part in self.recent:
            self.recent.move_to_end(part)
            return self.recent[part]
        self.misses += 1
        seeds = torch.arange(part * 20, part * 20 + 20, device=DEVICE)
        self.recent[part] = k_hop_subgraph(seeds, 1, self.edge_index, relabel_nodes=True, num_nodes=NODES)
        while len(self.recent) > CAPACITY:
            self.recent.popitem(last=False)
        return self.recent[part]


def main():
    torch.manual_seed(70)
    rng = random.Random(70)
    x = torch.randn(NODES, 32, device=DEVICE)
    labels = x[:, :5].argmax(-1)
    around = Neighbourhoods(torch.randint(0, NODES, (2, 10000), device=DEVICE))
    net = HistoryNet(48).to(DEVICE)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    trace = []
    for step in range(1, 401):
        nodes, edges, where, _ = around[min(rng.randrange(100), rng.randrange(100))]
        logits = net(x[nodes], edges, nodes)
        loss = F.cross_entropy(logits[where], labels[nodes][where])
        opt.zero_grad()
        loss.backward()
        opt.step()
        trace.append(loss.item())
        if step % 80 == 0:
            print(f"step {step}: loss {sum(trace[-80:]) / 80:.4f} misses {around.misses}")


main()
