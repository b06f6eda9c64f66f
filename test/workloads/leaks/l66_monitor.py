"""A monitor without training carries its state from frame to frame, with the graph of all that made it."""
import torch
from torch import nn

FRAMES, SENSORS, WIDTH = 400, 256, 128


class Monitor(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.cell = nn.GRUCell(WIDTH, WIDTH)

    def forward(self, frame, state):
        seen = torch.tanh(self.embed(frame)) + state
        mixed, _ = self.attention(seen[None], seen[None], seen[None])  # SITE
        return self.cell(mixed[0], state)


def main():
    torch.manual_seed(3)
    monitor = Monitor().to("cuda").eval()
    state = torch.zeros(SENSORS, WIDTH, device="cuda")
    for number in range(FRAMES):
        frame = torch.randn(SENSORS, 4).to("cuda")
        state = monitor(frame, state)  # HOLDER
        if number % 100 == 0:
            print(number, round(state.norm().item(), 3))


main()
