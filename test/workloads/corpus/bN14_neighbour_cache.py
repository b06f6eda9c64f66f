"""Mini-batch GraphSAGE training whose neighbourhood samples are remembered on the device for the nodes seen last.
Report: https://github.com/pyg-team/pytorch_geometric/pull/7896
Class: lru
"""
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import barabasi_albert_graph, k_hop_subgraph, to_undirected


class NeighbourhoodCache:
    def __init__(self, edge_index, x, capacity):
        self.edge_index, self.x, self.capacity = edge_index, x, capacity
        self.entries = OrderedDict()

    def __call__(self, node):
        if node in self.entries:
            self.entries.move_to_end(node)
            return self.entries[node]
        nodes, edges, mapping, _ = k_hop_subgraph(node, 1, self.edge_index, relabel_nodes=True, num_nodes=len(self.x))
        entry = (self.x[nodes].to("cuda"), edges.to("cuda"), int(mapping))
        self.entries[node] = entry
        while len(self.entries) > self.capacity:
            self.entries.popitem(last=False)
        return entry


def main():
    torch.manual_seed(33)
    num_nodes = 4000
    edge_index = to_undirected(barabasi_albert_graph(num_nodes, 3))
    y = torch.randint(0, 4, (num_nodes,))
    x = F.one_hot(y, 4).float().repeat(1, 24) + torch.randn(num_nodes, 96)
    neighbourhood = NeighbourhoodCache(edge_index, x, capacity=850)
    conv, head = SAGEConv(96, 64).to("cuda"), torch.nn.Linear(64, 4).to("cuda")
    optimizer = torch.optim.Adam([*conv.parameters(), *head.parameters()], lr=5e-3)
    for step in range(320):
        picked = torch.randint(0, num_nodes, (6,))
        rows = []
        for node in picked.tolist():
            features, edges, centre = neighbourhood(node)
            rows.append(conv(features, edges)[centre])
        out = head(torch.stack(rows).relu())
        loss = F.cross_entropy(out, y[picked].to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 80 == 0:
            print(f"step {step}: loss {loss.item():.3f}, {len(neighbourhood.entries)} neighbourhoods")


if __name__ == "__main__":
    main()
