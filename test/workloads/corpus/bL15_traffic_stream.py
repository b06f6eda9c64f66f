"""Forecasts traffic on a sensor network with a graph GRU; each new reading updates the state and gives a forecast.
Report: https://github.com/twitter-research/tgn/issues/16
Class: hidden-state
"""
import torch
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import grid


class GraphGru(nn.Module):
    def __init__(self, in_dim, hidden):
        super().__init__()
        self.gates = GCNConv(in_dim + hidden, 2 * hidden)
        self.candidate = GCNConv(in_dim + hidden, hidden)
        self.readout = nn.Linear(hidden, 1)
        self.hidden = hidden

    def forward(self, x, edge_index, h):
        update, reset = torch.sigmoid(self.gates(torch.cat([x, h], dim=1), edge_index)).chunk(2, dim=1)  # SITE
        candidate = torch.tanh(self.candidate(torch.cat([x, reset * h], dim=1), edge_index))  # ALSO
        h = update * h + (1 - update) * candidate  # ALSO
        return self.readout(h).squeeze(1), h


class Forecaster:
    """Lives as long as the stream does."""

    def __init__(self, model, edge_index, num_sensors):
        self.model = model.eval()
        self.edge_index = edge_index
        self.state = torch.zeros(num_sensors, model.hidden, device="cuda")

    def push(self, reading):
        forecast, self.state = self.model(reading, self.edge_index, self.state)  # HOLDER ALSO
        return forecast.tolist()


def main():
    torch.manual_seed(14)
    edge_index, positions = grid(12, 12)
    forecaster = Forecaster(GraphGru(2, 24).to("cuda"), edge_index.to("cuda"), len(positions))
    error = 0.0
    previous = None
    for tick in range(400):
        flow = torch.sin(tick / 12 + positions[:, 0] / 3) + 0.1 * torch.randn(len(positions))
        if previous is not None:
            error += sum((a - b) ** 2 for a, b in zip(previous, flow.tolist())) / len(previous)
        speed = 1.0 - 0.5 * flow
        previous = forecaster.push(torch.stack([flow, speed], dim=1).to("cuda"))  # ALSO
        if tick % 100 == 0:
            print(f"tick {tick}: mean error {error / max(tick, 1):.3f}")


if __name__ == "__main__":
    main()
