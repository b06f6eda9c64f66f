"""Keyword spotting on many audio streams at once; each stream has a GRU state that goes on until the stream ends.
Report: https://github.com/yunjey/pytorch-tutorial/issues/90
Class: hidden-state
"""
import random

import torch
from torch import nn


class Spotter(nn.Module):
    def __init__(self, bands=40, hidden=160, keywords=12):
        super().__init__()
        self.front = nn.Sequential(nn.Linear(bands, hidden), nn.ReLU())
        self.gru = nn.GRU(hidden, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, keywords)

    def forward(self, frames, state):
        out, state = self.gru(self.front(frames), state)
        return self.head(out[:, -1]), state


class Streams:
    def __init__(self, model):
        self.model = model
        self.states = {}

    def push(self, stream_id, frames, last):
        state = self.states.pop(stream_id, None)
        logits, state = self.model(frames, state)
        if not last:
            self.states[stream_id] = state.detach()
        return int(logits.detach().argmax())


def main():
    random.seed(113)
    torch.manual_seed(113)
    streams = Streams(Spotter().to("cuda").eval())
    running, next_id, counts = {}, 0, [0] * 12
    for _ in range(320):
        # About a dozen streams run at any time.
        while len(running) < 12:
            running[next_id] = random.randint(3, 25)
            next_id += 1
        stream_id = random.choice(list(running))
        running[stream_id] -= 1
        last = running[stream_id] == 0
        if last:
            del running[stream_id]
        frames = torch.randn(1, random.randint(20, 60), 40, device="cuda")
        counts[streams.push(stream_id, frames, last)] += 1
    print(f"{next_id} streams seen, {len(streams.states)} open")
    print("keywords:", counts)


if __name__ == "__main__":
    main()
