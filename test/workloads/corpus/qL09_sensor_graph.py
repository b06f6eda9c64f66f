"""Scores anomalies in a sensor network with a recurrent graph attention network, frame by frame."""
import torch
from torch import nn
from torch_geometric.nn import GATConv
from torch_geometric.utils import erdos_renyi_graph

NODES, HIDDEN, FRAMES = 90, 24, 210


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(4, HIDDEN)
        self.conv = GATConv(HIDDEN, HIDDEN, heads=2, concat=False)
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.readout = nn.Linear(HIDDEN, 4)

    def forward(self, frame, h, edge_index):
        z = torch.tanh(self.encode(frame))
        z = self.conv(z + h, edge_index)  # SITE
        return self.cell(z, h)

    def predict(self, h):
        return self.readout(h)


def frames(n):
    phase = torch.rand(NODES, 4) * 6.28
    for t in range(n):
        frame = torch.sin(phase + 0.1 * t)
        if t % 35 == 20:
            frame[t % NODES] += 3.0
        yield frame.to("cuda")


def main():
    torch.manual_seed(1)
    edge_index = erdos_renyi_graph(NODES, 0.25).to("cuda")
    net = SensorNet().to("cuda")
    net.eval()
    state = torch.zeros(NODES, HIDDEN, device="cuda")
    expected = None
    alarms = []
    for t, frame in enumerate(frames(FRAMES)):
        if expected is not None:
            error = (frame - expected).pow(2).mean(dim=1)
            if error.max().item() > 5.0:
                alarms.append((t, int(error.argmax())))
        state = net(frame, state, edge_index)  # HOLDER
        expected = net.predict(state)
        if t % 35 == 34:
            print(f"frame {t + 1}: alarms {alarms[-3:]} norm {state.norm().item():.4f}")


main()
