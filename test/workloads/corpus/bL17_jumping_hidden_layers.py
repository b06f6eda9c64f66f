"""Graph classification with a GIN whose readout looks at the outputs of all layers (jumping knowledge).
Report: https://github.com/pyg-team/pytorch_geometric/issues/1595
Class: module-list
"""
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import erdos_renyi_graph


class JumpingGin(nn.Module):
    def __init__(self, in_dim, hidden, num_layers, num_classes):
        super().__init__()
        self.convs = nn.ModuleList()
        for layer in range(num_layers):
            width = in_dim if layer == 0 else hidden
            self.convs.append(GINConv(nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden))))
        self.readout = nn.Linear(hidden * num_layers, num_classes)
        self.layer_outputs = []

    def forward(self, x, edge_index, batch):
        for conv in self.convs:
            x = conv(x, edge_index).relu()  # SITE
            self.layer_outputs.append(x)  # HOLDER
        pooled = [global_add_pool(h, batch) for h in self.layer_outputs[-len(self.convs):]]
        return self.readout(torch.cat(pooled, dim=1))


def make_dataset(count):
    graphs = []
    for _ in range(count):
        label = int(torch.randint(0, 2, ()))
        num_nodes = int(torch.randint(15, 40, ()))
        edge_index = erdos_renyi_graph(num_nodes, 0.1 if label else 0.2)
        graphs.append(Data(x=torch.ones(num_nodes, 4), edge_index=edge_index, y=label))
    return graphs


def main():
    torch.manual_seed(23)
    loader = DataLoader(make_dataset(240), batch_size=12, shuffle=True)
    model = JumpingGin(4, 32, num_layers=3, num_classes=2).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(18):
        correct = 0
        for batch in loader:
            batch = batch.to("cuda")
            out = model(batch.x, batch.edge_index, batch.batch)
            loss = nn.functional.cross_entropy(out, batch.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += int((out.argmax(dim=1) == batch.y).sum())
        if epoch % 3 == 0:
            print(f"epoch {epoch}: accuracy {correct / 240:.3f}")


if __name__ == "__main__":
    main()
