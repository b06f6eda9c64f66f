"""Continuous batching: requests join a running decoder and leave when they finish."""
import random

import torch
import torch.nn.functional as F

DEVICE = "cuda"
ITERATIONS = 700
SLOTS = 24
LAYERS, HEADS, DIM, VOCAB = 3, 8, 128, 4096
WIDTH = HEADS * DIM


class Request:
    def __init__(self, rid, length, budget):
        self.rid, self.budget = rid, budget
        self.tokens = [rid % VOCAB]
        prefix = torch.randn(LAYERS, HEADS, length, DIM, device=DEVICE)
        self.keys = list(prefix.unbind(0))
        self.values = [k * 0.5 for k in self.keys]


class Decoder:
    def __init__(self):
        self.embed = torch.randn(VOCAB, WIDTH, device=DEVICE) / WIDTH ** 0.5
        self.qkv = torch.randn(LAYERS, WIDTH, 3 * WIDTH, device=DEVICE) / WIDTH ** 0.5
        self.proj = torch.randn(LAYERS, WIDTH, WIDTH, device=DEVICE) / WIDTH ** 0.5

    def step(self, batch):
        x = self.embed[torch.tensor([r.tokens[-1] for r in batch], device=DEVICE)]
        for layer in range(LAYERS):
            q, k, v = (x @ self.qkv[layer]).view(len(batch), 3, HEADS, 1, DIM).unbind(1)
            rows = []
            for i, r in enumerate(batch):
                r.keys[layer] = torch.cat([r.keys[layer], k[i]], dim=1)
                r.values[layer] = torch.cat([r.values[layer], v[i]], dim=1)
                rows.append(F.scaled_dot_product_attention(q[i], r.keys[layer], r.values[layer]))
            x = F.rms_norm(x + torch.stack(rows).view(-1, WIDTH) @ self.proj[layer], (WIDTH,))
        for r, token in zip(batch, (x @ self.embed.T).argmax(1).tolist()):
            r.tokens.append(token)


@torch.inference_mode()
def main():
    torch.manual_seed(11)
    rng = random.Random(11)
    decoder, running, finished, arrived = Decoder(), [], {}, 0
    for it in range(ITERATIONS):
        if it % 6 == 0 and len(running) < SLOTS:
            running.append(Request(arrived, rng.randint(100, 600), rng.randint(80, 260)))
            arrived += 1
        decoder.step(running)
        for r in [r for r in running if len(r.tokens) > r.budget]:
            running.remove(r)
            finished[r.rid] = r.tokens
    produced = sum(map(len, finished.values()))
    print(f"{arrived} arrived, {len(finished)} finished, {produced} tokens, {len(running)} still running")


main()
