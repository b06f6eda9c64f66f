"""GraphSAGE node classification with neighbour sampling on a synthetic graph."""
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
NODES, FEATS, CLASSES, DEGREE = 50_000, 128, 16, 16
STEPS, SEEDS = 150, 2048


def make_graph():
    labels = torch.randint(0, CLASSES, (NODES,), device=DEV)
    centres = torch.randn(CLASSES, FEATS, device=DEV)
    x = centres[labels] + 1.5 * torch.randn(NODES, FEATS, device=DEV)
    order = labels.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(NODES, device=DEV)
    jump = torch.randint(-800, 801, (NODES, DEGREE), device=DEV)
    nbrs = order[(rank.unsqueeze(1) + jump).clamp(0, NODES - 1)]
    return x, nbrs, labels


def sample_edges(seeds, nbrs, fanout):
    n = seeds.numel()
    cols = torch.randint(0, DEGREE, (n, fanout), device=DEV)
    src = nbrs[seeds.unsqueeze(1), cols].reshape(-1)
    dst = torch.arange(n, device=DEV).repeat_interleave(fanout)
    return torch.stack([src, dst])


@functools.lru_cache(maxsize=None)
def edge_norm(edge_index, num_dst):
    """Degree normalisation of the edges; the same subgraph is used by several layers."""
    dst = edge_index[1]
    deg = torch.zeros(num_dst, device=DEV).index_add_(0, dst, torch.ones_like(dst, dtype=torch.float32))
    return deg.clamp(min=1).reciprocal()[dst]


class SageConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.root = nn.Linear(d_in, d_out)
        self.nbr = nn.Linear(d_in, d_out, bias=False)

    def forward(self, h_src, h_dst, edge_index):
        w = edge_norm(edge_index, h_dst.shape[0])
        msg = h_src * w.unsqueeze(1)
        agg = torch.zeros_like(h_dst).index_add(0, edge_index[1], msg)
        return self.root(h_dst) + self.nbr(agg)


def main():
    torch.manual_seed(0)
    x, nbrs, labels = make_graph()
    conv1, conv2 = SageConv(FEATS, FEATS).to(DEV), SageConv(FEATS, FEATS).to(DEV)
    head = nn.Linear(FEATS, CLASSES).to(DEV)
    params = [*conv1.parameters(), *conv2.parameters(), *head.parameters()]
    opt = torch.optim.Adam(params, lr=3e-3)
    for step in range(STEPS):
        seeds = torch.randint(0, NODES, (SEEDS,), device=DEV)
        hop1 = sample_edges(seeds, nbrs, 8)
        hop2 = sample_edges(hop1[0], nbrs, 5)
        h_mid = F.relu(conv1(x[hop2[0]], x[hop1[0]], hop2))
        h = F.relu(conv2(h_mid, x[seeds], hop1))
        loss = F.cross_entropy(head(h), labels[seeds])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            acc = (head(h).argmax(1) == labels[seeds]).float().mean().item()
    print(f"accuracy {acc:.3f} loss {loss.item():.3f}")


main()
