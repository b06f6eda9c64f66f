"""Replays a stream of purchases through a temporal graph memory to score which pairs come next; nothing is trained.
Report: https://github.com/amazon-science/tgl/issues/24
Class: graph-in-state
"""
import torch
from torch_geometric.data import TemporalData
from torch_geometric.loader import TemporalDataLoader
from torch_geometric.nn.models.tgn import IdentityMessage, LastAggregator, TGNMemory

NODES, EVENTS, BATCH, MESSAGE, MEMORY, NEGATIVES = 600, 24000, 150, 32, 96, 4


def purchases():
    gen = torch.Generator().manual_seed(44)
    group = torch.randint(0, 6, (NODES,), generator=gen)
    src = torch.randint(0, NODES // 2, (EVENTS,), generator=gen)
    shift = torch.randint(0, 40, (EVENTS,), generator=gen)
    dst = NODES // 2 + (group[src] * 45 + shift) % (NODES // 2)
    t = torch.arange(EVENTS)
    return TemporalData(src=src, dst=dst, t=t, msg=torch.randn(EVENTS, MESSAGE, generator=gen)).to("cuda")


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = torch.nn.Bilinear(MEMORY, MEMORY, 1)

    def forward(self, a, b):
        return self.pair(a, b).squeeze(-1)


class Replay:
    def __init__(self):
        message = IdentityMessage(MESSAGE, MEMORY, 16)
        self.memory = TGNMemory(NODES, MESSAGE, MEMORY, 16, message_module=message, aggregator_module=LastAggregator())
        self.memory.to("cuda").eval()
        self.memory.reset_state()
        self.scorer = Scorer().to("cuda").eval()
        self.margins = []

    def feed(self, events, gen):
        nodes = torch.arange(NODES, device="cuda")
        state, _ = self.memory(nodes)
        right = self.scorer(state[events.src], state[events.dst])
        margins = []
        for _ in range(NEGATIVES):
            other = torch.randint(NODES // 2, NODES, events.dst.shape, generator=gen).to("cuda")
            margins.append((right - self.scorer(state[events.src], state[other])).mean().item())
        self.margins.append(sum(margins) / NEGATIVES)
        self.memory.update_state(events.src, events.dst, events.t, events.msg)  # SITE # HOLDER


def main():
    torch.manual_seed(44)
    gen = torch.Generator().manual_seed(45)
    replay = Replay()
    for number, events in enumerate(TemporalDataLoader(purchases(), batch_size=BATCH), start=1):
        replay.feed(events, gen)
        if number % 30 == 0:
            recent = replay.margins[-15:]
            print(f"batch {number}: margin {sum(recent) / len(recent):+.5f}")


main()
