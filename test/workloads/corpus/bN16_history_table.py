"""Trains a GCN on clusters and reads what lies outside of the cluster from a table of historical embeddings.
Report: https://github.com/twitter-research/tgn/issues/16
Class: large-table
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import stochastic_blockmodel_graph, subgraph


class History(nn.Module):
    """One row for each node: its embedding when it was last computed."""

    def __init__(self, num_nodes, dim):
        super().__init__()
        self.register_buffer("table", torch.zeros(num_nodes, dim), persistent=False)

    @torch.no_grad()
    def push(self, index, value):
        self.table[index] = value

    def pull(self, index):
        return self.table[index]


def main():
    torch.manual_seed(41)
    blocks, size, classes = 8, 120, 8
    probs = torch.full((blocks, blocks), 0.003) + 0.06 * torch.eye(blocks)
    edge_index = stochastic_blockmodel_graph([size] * blocks, probs)
    num_nodes = blocks * size
    y = torch.arange(num_nodes) // size
    x = torch.randn(num_nodes, 64) + 0.3 * F.one_hot(y, classes).float().repeat(1, 8)
    clusters = []
    for block in range(blocks):
        core = torch.arange(block * size, (block + 1) * size)
        inside = torch.zeros(num_nodes, dtype=torch.bool)
        inside[core] = True
        touching = inside[edge_index[0]] | inside[edge_index[1]]
        near = torch.unique(edge_index[:, touching])
        nodes = torch.cat([core, near[~inside[near]]])
        edges, _ = subgraph(nodes, edge_index, relabel_nodes=False)
        relabel = torch.full((num_nodes,), -1)
        relabel[nodes] = torch.arange(len(nodes))
        clusters.append((nodes.to("cuda"), relabel[edges].to("cuda"), len(core)))
    x, y = x.to("cuda"), y.to("cuda")
    conv1, conv2 = GCNConv(64, 128).to("cuda"), GCNConv(128, classes).to("cuda")
    history = History(num_nodes, 128).to("cuda")
    optimizer = torch.optim.Adam([*conv1.parameters(), *conv2.parameters()], lr=5e-3)
    for epoch in range(45):
        correct = 0
        for nodes, edges, core in clusters:
            fresh = conv1(x[nodes], edges).relu()
            history.push(nodes[:core], fresh[:core].detach())
            hidden = torch.cat([fresh[:core], history.pull(nodes[core:])])
            out = conv2(hidden, edges)[:core]
            loss = F.cross_entropy(out, y[nodes[:core]])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += int((out.argmax(dim=1) == y[nodes[:core]]).sum())
        if epoch % 9 == 0:
            print(f"epoch {epoch}: accuracy {correct / num_nodes:.3f}")


if __name__ == "__main__":
    main()
