"""Transductive node classification with cached GCN layers; the best weights so far are kept and restored at the end.
Report: https://github.com/pyg-team/pytorch_geometric/issues/619
Class: checkpoint-replaced
"""
import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import stochastic_blockmodel_graph


class CachedGcn(torch.nn.Module):
    def __init__(self, in_dim, hidden, classes):
        super().__init__()
        self.conv1 = GCNConv(in_dim, hidden, cached=True)
        self.conv2 = GCNConv(hidden, classes, cached=True)

    def forward(self, x, edge_index):
        x = F.dropout(x, 0.3, training=self.training)
        x = F.dropout(self.conv1(x, edge_index).relu(), 0.3, training=self.training)
        return self.conv2(x, edge_index)


class BestKeeper:
    def __init__(self):
        self.score = -1.0
        self.state = None

    def update(self, score, model):
        if score > self.score:
            self.score = score
            self.state = {name: value.detach().clone() for name, value in model.state_dict().items()}


torch.manual_seed(43)
sizes = [150] * 4
probs = torch.full((4, 4), 0.01) + 0.02 * torch.eye(4)
y = torch.arange(4).repeat_interleave(150)
x = torch.randn(600, 256) + 0.25 * F.one_hot(y, 4).float().repeat(1, 64)
mask = torch.rand(600) < 0.3
data = Data(x=x, edge_index=stochastic_blockmodel_graph(sizes, probs), y=y, train_mask=mask).to("cuda")
model = CachedGcn(256, 128, 4).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-3)
best = BestKeeper()
for epoch in range(220):
    model.train()
    optimizer.zero_grad()
    out = model(data.x, data.edge_index)
    F.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        hit = model(data.x, data.edge_index).argmax(dim=1) == data.y
    best.update(hit[~data.train_mask].float().mean().item(), model)
    if epoch % 55 == 0:
        print(f"epoch {epoch}: best accuracy {best.score:.3f}")
model.load_state_dict(best.state)
