"""An asyncio scoring service with a bounded inbox, deadlines and a table of pending answers."""
import asyncio
import itertools

import torch
from torch import nn

DIM = 1536


class Busy(Exception):
    pass


class Scorer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(DIM, 256), nn.ReLU(), nn.Linear(256, DIM)).to("cuda").eval()
        self.inbox = asyncio.Queue(maxsize=16)
        self.pending = {}
        self.tickets = itertools.count()
        self.errors = []

    async def worker(self):
        while True:
            batch = [await self.inbox.get()]
            while len(batch) < 6 and not self.inbox.empty():
                batch.append(self.inbox.get_nowait())
            live = [(ticket, rows) for ticket, rows in batch if ticket in self.pending]
            if live:
                with torch.no_grad():
                    out = self.net(torch.stack([rows for _, rows in live]))
                for (ticket, _), scores in zip(live, out):
                    self.pending[ticket]["scores"] = scores
            await asyncio.sleep(0)

    async def score(self, rows, patience):
        ticket = next(self.tickets)
        self.pending[ticket] = {"rows": rows, "scores": None}
        try:
            await self.inbox.put((ticket, rows))
            for _ in range(patience):
                scores = self.pending[ticket]["scores"]
                if scores is not None:
                    return scores
                await asyncio.sleep(0)
            raise Busy(f"ticket {ticket} ran out of patience")
        finally:
            self.pending.pop(ticket)


async def visit(scorer, number, stats):
    rows = torch.sin(torch.arange(8 * DIM, device="cuda").view(8, DIM) * (1 + number % 50) * 0.01)
    try:
        scores = await scorer.score(rows, patience=3 if number % 4 == 3 else 400)
        stats["sum"] += scores.mean().item()
        stats["ok"] += 1
    except Busy as error:
        scorer.errors.append(str(error))


async def main():
    torch.manual_seed(4)
    scorer = Scorer()
    task = asyncio.create_task(scorer.worker())
    stats = {"ok": 0, "sum": 0.0}
    for wave in range(300):
        await asyncio.gather(*(visit(scorer, wave * 24 + i, stats) for i in range(24)))
        if wave % 60 == 59:
            print(f"wave {wave + 1}: ok {stats['ok']} late {len(scorer.errors)} sum {stats['sum']:.4f}")
    task.cancel()


asyncio.run(main())
