"""Link prediction that trains on enclosing subgraphs (as SEAL does); extracted subgraphs are cached on the device.
Report: https://github.com/pyg-team/pytorch_geometric/pull/7896
Class: dataset-cache
"""
import torch
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_mean_pool
from torch_geometric.utils import barabasi_albert_graph, k_hop_subgraph, to_undirected


class EnclosingSubgraphs:
    """Subgraph around a pair of nodes, on the device."""

    def __init__(self, edge_index, features):
        self.edge_index = edge_index
        self.features = features
        self._cache = {}

    def __getitem__(self, pair):
        if pair not in self._cache:
            nodes, edges, mapping, _ = k_hop_subgraph(
                list(pair), 1, self.edge_index, relabel_nodes=True, num_nodes=len(self.features)
            )
            flag = torch.zeros(len(nodes), 1)
            flag[mapping] = 1.0
            graph = Data(x=torch.cat([self.features[nodes], flag], dim=1), edge_index=edges)
            self._cache[pair] = graph.to("cuda")  # SITE HOLDER
        return self._cache[pair]


class PairScorer(torch.nn.Module):
    def __init__(self, in_dim, hidden=48):
        super().__init__()
        self.conv1 = GraphConv(in_dim, hidden)
        self.conv2 = GraphConv(hidden, hidden)
        self.out = torch.nn.Linear(hidden, 1)

    def forward(self, batch):
        h = F.relu(self.conv1(batch.x, batch.edge_index))
        h = F.relu(self.conv2(h, batch.edge_index))
        return self.out(global_mean_pool(h, batch.batch)).squeeze(1)


def main():
    torch.manual_seed(8)
    num_nodes = 1500
    edge_index = to_undirected(barabasi_albert_graph(num_nodes, 4))
    subgraphs = EnclosingSubgraphs(edge_index, torch.randn(num_nodes, 64))
    model = PairScorer(65).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(220):
        positive = edge_index[:, torch.randint(0, edge_index.size(1), (4,))].T.tolist()
        negative = torch.randint(0, num_nodes, (4, 2)).tolist()
        batch = Batch.from_data_list([subgraphs[tuple(pair)] for pair in positive + negative])
        target = torch.tensor([1.0] * 4 + [0.0] * 4, device="cuda")
        loss = F.binary_cross_entropy_with_logits(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 55 == 0:
            print(f"step {step}: loss {loss.item():.3f}, {batch.num_nodes} nodes")


if __name__ == "__main__":
    main()
