"""Continuous batching of decode requests: admission by priority, one KV cache per request."""
import heapq
import random
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

LAYERS, HEADS, HD, VOCAB, SLOTS = 4, 8, 64, 4096, 10
DIM = HEADS * HD


@dataclass(order=True)
class Request:
    priority: int
    number: int
    prompt: torch.Tensor = field(compare=False)
    budget: int = field(compare=False)
    cache: list = field(default_factory=list, compare=False)
    produced: list = field(default_factory=list, compare=False)


class Engine:
    def __init__(self):
        def mat(*shape):
            return torch.randn(*shape, device="cuda") * shape[-2] ** -0.5
        self.table = torch.randn(VOCAB, DIM, device="cuda")
        self.qkv, self.proj = mat(LAYERS, DIM, 3 * DIM), mat(LAYERS, DIM, DIM)
        self.queue, self.running, self.finished = [], [], {}

    def admit(self):
        while self.queue and len(self.running) < SLOTS:
            req = heapq.heappop(self.queue)
            req.cache = [None] * LAYERS
            self.advance(req, req.prompt.to("cuda"))
            self.running.append(req)

    def advance(self, req, ids):
        x = self.table[ids]
        for i in range(LAYERS):
            q, k, v = (x @ self.qkv[i]).view(len(ids), 3, HEADS, HD).permute(1, 2, 0, 3)
            if req.cache[i] is not None:
                k = torch.cat([req.cache[i][0], k], dim=1)
                v = torch.cat([req.cache[i][1], v], dim=1)
            req.cache[i] = (k, v)
            att = F.scaled_dot_product_attention(q, k, v, is_causal=len(ids) > 1)
            x = x + att.transpose(0, 1).reshape(len(ids), DIM) @ self.proj[i]
        logits = F.layer_norm(x[-1], (DIM,)) @ self.table.T
        req.produced.append(int(logits.argmax()))

    def tick(self):
        self.admit()
        for req in list(self.running):
            self.advance(req, torch.tensor(req.produced[-1:], device="cuda"))
            if len(req.produced) >= req.budget:
                self.running.remove(req)
                self.finished[req.number] = req.produced
                req.cache.clear()
        return len(self.running)


@torch.inference_mode()
def main():
    rng = random.Random(31)
    torch.manual_seed(31)
    engine, busy, number = Engine(), 0, 0
    for tick in range(280):
        if tick % 4 == 0:
            prompt = torch.randint(0, VOCAB, (rng.randint(128, 700),))
            heapq.heappush(engine.queue, Request(rng.randint(0, 2), number, prompt, rng.randint(20, 60)))
            number += 1
        busy += engine.tick()
    tokens = sum(len(p) for p in engine.finished.values())
    print(f"finished {len(engine.finished)} of {number}, tokens {tokens}, mean slots {busy / 280:.2f}")


main()
