"""Embedding service: requests are queued, batched, encoded and answered before a deadline."""
import itertools
import random

import torch
import torch.nn as nn

DEV = "cuda"
VOCAB, DIM, TICKS, PER_TICK = 8000, 256, 160, 6


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.blocks = nn.ModuleList(nn.Linear(DIM, DIM) for _ in range(6))
        self.norm = nn.LayerNorm(DIM)

    def forward(self, tokens):
        h = self.embed(tokens)
        for block in self.blocks:
            h = h + torch.relu(block(h)) - h.mean(dim=1, keepdim=True)
        return self.norm(h)


class Service:
    def __init__(self, encoder):
        self.encoder = encoder
        self.ids = itertools.count()
        self.waiting = {}
        self.answered = self.timed_out = 0

    def submit(self, tokens, deadline):
        rid = next(self.ids)
        with torch.inference_mode():
            states = self.encoder(tokens.to(DEV).unsqueeze(0))
        self.waiting[rid] = (states, deadline)
        return rid

    def collect(self, rid, now):
        states, deadline = self.waiting[rid]
        if now > deadline:
            self.timed_out += 1
            return None
        self.answered += 1
        del self.waiting[rid]
        return states.mean(dim=1).squeeze(0)


def main():
    random.seed(1)
    torch.manual_seed(1)
    service = Service(Encoder().to(DEV).eval())
    torch.cuda.memory._record_memory_history(max_entries=200000)
    total = torch.zeros(DIM, device=DEV)
    for tick in range(TICKS):
        rids = []
        for slot in range(PER_TICK):
            tokens = torch.randint(0, VOCAB, (random.choice((256, 384, 512)),))
            rids.append(service.submit(tokens, deadline=tick + random.choice((0.1, 0.5, 2.0))))
        for slot, rid in enumerate(rids):
            vector = service.collect(rid, now=tick + 0.2 * slot)
            if vector is not None:
                total += vector
    torch.cuda.memory._dump_snapshot("i_snap_serving.pickle")
    print(f"answered {service.answered} timed out {service.timed_out} norm {total.norm().item():.3f}")


if __name__ == "__main__":
    main()
