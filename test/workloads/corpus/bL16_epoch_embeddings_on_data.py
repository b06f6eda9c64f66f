"""Trains a graph autoencoder and attaches the embedding of each epoch to the data object for a later animation.
Class: attribute-dict
"""
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GAE, GCNConv
from torch_geometric.utils import stochastic_blockmodel_graph


class Encoder(torch.nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.conv1 = GCNConv(in_dim, 2 * out_dim)
        self.conv2 = GCNConv(2 * out_dim, out_dim)

    def forward(self, x, edge_index):
        return self.conv2(self.conv1(x, edge_index).relu(), edge_index)


torch.manual_seed(19)
sizes = [80, 80, 80]
probs = [[0.10, 0.01, 0.01], [0.01, 0.10, 0.01], [0.01, 0.01, 0.10]]
edge_index = stochastic_blockmodel_graph(sizes, probs)
data = Data(x=torch.randn(sum(sizes), 32), edge_index=edge_index).to("cuda")
model = GAE(Encoder(32, 16)).to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(320):
    model.train()
    z = model.encode(data.x, data.edge_index)
    loss = model.recon_loss(z, data.edge_index)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.eval()
        data[f"z_{epoch}"] = model.encode(data.x, data.edge_index).tanh()  # SITE HOLDER
    if epoch % 80 == 0:
        moved = (data[f"z_{epoch}"] - data[f"z_{max(0, epoch - 1)}"]).norm(dim=1).mean()
        print(f"epoch {epoch}: loss {loss.item():.3f}, moved {moved.item():.4f}")
