"""Trains a temporal graph memory on purchases; its message store fills as more and more customers have been seen.
Report: https://github.com/twitter-research/tgn/issues/16
Class: graph-memory-detached
"""
import torch
from torch_geometric.data import TemporalData
from torch_geometric.loader import TemporalDataLoader
from torch_geometric.nn.models.tgn import IdentityMessage, LastAggregator, TGNMemory

NODES, EVENTS, BATCH, MESSAGE, MEMORY, EPOCHS = 900, 16000, 100, 128, 64, 2


def purchases():
    """Customers come in by and by; most purchases are made by those that came lately."""
    gen = torch.Generator().manual_seed(54)
    half = NODES // 2
    t = torch.arange(EVENTS)
    newest = (half * (t + 1) / (0.7 * EVENTS)).clamp(max=half)
    src = (newest * torch.rand(EVENTS, generator=gen).sqrt()).long().clamp(max=half - 1)
    dst = half + (src * 7 + torch.randint(0, 60, (EVENTS,), generator=gen)) % half
    return TemporalData(src=src, dst=dst, t=t, msg=torch.randn(EVENTS, MESSAGE, generator=gen))


class Predictor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.src = torch.nn.Linear(MEMORY, MEMORY)
        self.dst = torch.nn.Linear(MEMORY, MEMORY)
        self.out = torch.nn.Linear(MEMORY, 1)

    def forward(self, a, b):
        return self.out((self.src(a) + self.dst(b)).relu()).squeeze(-1)


def train_epoch(memory, predictor, optimizer, loader, gen):
    memory.train()
    memory.reset_state()
    total = seen = 0
    for events in loader:
        events = events.to("cuda")
        other = torch.randint(NODES // 2, NODES, events.dst.shape, generator=gen).to("cuda")
        nodes, back = torch.cat([events.src, events.dst, other]).unique(return_inverse=True)
        state, _ = memory(nodes)
        src, dst, wrong = state[back].chunk(3)
        good, bad = predictor(src, dst), predictor(src, wrong)
        loss = torch.nn.functional.softplus(-good).mean() + torch.nn.functional.softplus(bad).mean()
        optimizer.zero_grad()
        memory.update_state(events.src, events.dst, events.t, events.msg)
        loss.backward()
        optimizer.step()
        memory.detach()
        total += loss.item()
        seen += 1
    return total / seen


def main():
    torch.manual_seed(54)
    gen = torch.Generator().manual_seed(55)
    message = IdentityMessage(MESSAGE, MEMORY, 16)
    memory = TGNMemory(NODES, MESSAGE, MEMORY, 16, message_module=message, aggregator_module=LastAggregator())
    memory.to("cuda")
    predictor = Predictor().to("cuda")
    optimizer = torch.optim.Adam([*memory.parameters(), *predictor.parameters()], lr=1e-3)
    loader = TemporalDataLoader(purchases(), batch_size=BATCH)
    for epoch in range(EPOCHS):
        loss = train_epoch(memory, predictor, optimizer, loader, gen)
        print(f"epoch {epoch}: loss {loss:.4f}")


main()
