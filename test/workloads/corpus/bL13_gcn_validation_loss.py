"""Node classification with a GCN; training and validation losses are recorded in every epoch for the learning curve.
Report: https://github.com/pyg-team/pytorch_geometric/issues/1702
Class: loss-list
"""
import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn.models import GCN
from torch_geometric.utils import erdos_renyi_graph


def make_graph(num_nodes=600, num_classes=5):
    edge_index = erdos_renyi_graph(num_nodes, 0.01)
    y = torch.randint(0, num_classes, (num_nodes,))
    x = F.one_hot(y, num_classes).float().repeat(1, 8) + 1.5 * torch.randn(num_nodes, 8 * num_classes)
    train_mask = torch.rand(num_nodes) < 0.4
    return Data(x=x, edge_index=edge_index, y=y, train_mask=train_mask, val_mask=~train_mask)


def train(model, data, optimizer):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


def validate(model, data):
    model.eval()
    out = model(data.x, data.edge_index)  # SITE
    loss = F.cross_entropy(out[data.val_mask], data.y[data.val_mask])  # ALSO
    accuracy = (out.argmax(dim=1) == data.y)[data.val_mask].float().mean()
    return loss, accuracy.item()


def main():
    torch.manual_seed(0)
    data = make_graph().to("cuda")
    model = GCN(data.num_features, hidden_channels=32, num_layers=2, out_channels=5, dropout=0.5).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    history = {"train": [], "val": []}
    for epoch in range(240):
        history["train"].append(train(model, data, optimizer))
        val_loss, val_acc = validate(model, data)
        history["val"].append(val_loss)  # HOLDER
        if epoch % 60 == 0:
            print(f"epoch {epoch}: train {history['train'][-1]:.3f} val {val_loss:.3f} accuracy {val_acc:.3f}")
    best = min(range(240), key=lambda e: history["val"][e].item())
    print("best epoch:", best)


if __name__ == "__main__":
    main()
