"""Contrastive learning of graphs; negatives come from a reservoir in which each graph ever seen is equally likely.
Report: https://github.com/huggingface/sentence-transformers/pull/3612
Class: reservoir
"""
import random

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import SAGEConv, global_mean_pool

ROUNDS, GRAPHS, WIDTH, FEATURES, KEPT = 260, 8, 96, 256, 48


def graph(kind, gen):
    """Rings, stars and grids of many sizes."""
    count = int(torch.randint(30, 160, (1,), generator=gen))
    nodes = torch.arange(count)
    if kind == 0:
        edges = torch.stack([nodes, (nodes + 1) % count])
    elif kind == 1:
        edges = torch.stack([torch.zeros_like(nodes), nodes])
    else:
        side = max(3, int(count**0.5))
        edges = torch.cat([torch.stack([nodes[:-1], nodes[1:]]), torch.stack([nodes[:-side], nodes[side:]])], dim=1)
    x = torch.randn(count, FEATURES, generator=gen)
    return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1), y=torch.tensor([kind]))


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = SAGEConv(FEATURES + 1, WIDTH)
        self.second = SAGEConv(WIDTH, WIDTH)

    def forward(self, batch):
        degree = torch.zeros(len(batch.x), 1, device="cuda")
        degree.index_add_(0, batch.edge_index[0], torch.ones(batch.edge_index.shape[1], 1, device="cuda"))
        h = self.first(torch.cat([batch.x * 0.2, degree.log1p()], dim=1), batch.edge_index).relu()
        return torch.nn.functional.normalize(global_mean_pool(self.second(h, batch.edge_index), batch.batch), dim=1)


class Reservoir:
    """Algorithm R over graphs that stay on the device."""

    def __init__(self, size, rng):
        self.size, self.rng = size, rng
        self.graphs, self.seen = [], 0

    def offer(self, one):
        self.seen += 1
        if len(self.graphs) < self.size:
            self.graphs.append(one)
        else:
            at = self.rng.randrange(self.seen)
            if at < self.size:
                self.graphs[at] = one

    def draw(self, count):
        return self.rng.sample(self.graphs, min(count, len(self.graphs)))


def main():
    torch.manual_seed(96)
    rng, gen = random.Random(96), torch.Generator().manual_seed(96)
    encoder, reservoir = Encoder().to("cuda"), Reservoir(KEPT, rng)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for number in range(1, ROUNDS + 1):
        fresh = [graph(rng.randrange(3), gen).to("cuda") for _ in range(GRAPHS)]
        others = reservoir.draw(14)
        batch = Batch.from_data_list(fresh + others)
        z, kinds = encoder(batch), batch.y
        same = (kinds[:, None] == kinds[None]) & ~torch.eye(len(kinds), dtype=torch.bool, device="cuda")
        logits = (z @ z.t() / 0.2).masked_fill(torch.eye(len(kinds), dtype=torch.bool, device="cuda"), -1e9)
        chances = logits.log_softmax(1)
        loss = -(chances * same).sum(1).div(same.sum(1).clamp_min(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 2 == 0:
            reservoir.offer(max(fresh, key=lambda one: one.num_nodes))
        if number % 52 == 0:
            print(f"round {number}: loss {loss.item():.4f}, {len(reservoir.graphs)} of {reservoir.seen} graphs kept")


main()
