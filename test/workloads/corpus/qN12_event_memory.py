"""Predicts links in a stream of interactions with a temporal graph network memory."""
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn.models.tgn import IdentityMessage, LastAggregator, TGNMemory

NODES, MESSAGE, MEMORY, TIME = 120, 16, 32, 8
BATCH, STEPS = 60, 240


class LinkPredictor(nn.Module):
    def __init__(self):
        super().__init__()
        self.src = nn.Linear(MEMORY, 32)
        self.dst = nn.Linear(MEMORY, 32)

    def forward(self, a, b):
        return (self.src(a) * self.dst(b)).sum(-1)


class Events:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.clock = 0

    def next(self):
        src = torch.randint(0, NODES // 2, (BATCH,), generator=self.gen)
        shift = torch.randint(0, 3, (BATCH,), generator=self.gen)
        dst = NODES // 2 + (src + shift) % (NODES // 2)
        fake = torch.randint(NODES // 2, NODES, (BATCH,), generator=self.gen)
        t = self.clock + torch.arange(BATCH)
        self.clock += BATCH
        msg = torch.randn(BATCH, MESSAGE, generator=self.gen)
        return tuple(v.to("cuda") for v in (src, dst, fake, t, msg))


def main():
    torch.manual_seed(2)
    memory = TGNMemory(
        NODES, MESSAGE, MEMORY, TIME,
        message_module=IdentityMessage(MESSAGE, MEMORY, TIME),
        aggregator_module=LastAggregator(),
    ).to("cuda")
    predictor = LinkPredictor().to("cuda")
    opt = torch.optim.Adam(list(memory.parameters()) + list(predictor.parameters()), lr=2e-3)
    events = Events(3)
    place = torch.empty(NODES, dtype=torch.long, device="cuda")
    mean = 0.0
    memory.train()
    for step in range(1, STEPS + 1):
        src, dst, fake, t, msg = events.next()
        nodes = torch.cat([src, dst, fake]).unique()
        place[nodes] = torch.arange(nodes.numel(), device="cuda")
        z, _ = memory(nodes)
        good = predictor(z[place[src]], z[place[dst]])
        bad = predictor(z[place[src]], z[place[fake]])
        loss = F.softplus(-good).mean() + F.softplus(bad).mean()
        memory.update_state(src, dst, t, msg)
        opt.zero_grad()
        loss.backward()
        opt.step()
        memory.detach()
        mean = 0.97 * mean + 0.03 * loss.item()
        if step % 48 == 0:
            print(f"step {step}: loss {mean:.4f} memory norm {memory.memory.norm().item():.3f}")


main()
