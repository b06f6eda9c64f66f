"""Streams tokens from a GRU language model; many readers leave before the end of their stream.

Report: https://github.com/k2-fsa/sherpa-onnx/issues/2631
Class: generator
"""
import random

import torch
import torch.nn as nn


class TokenStreamer:
    def __init__(self, vocab=100, dim=192):
        self.embed = nn.Embedding(vocab, dim).to("cuda")
        self.cell = nn.GRUCell(dim, dim).to("cuda")
        self.out = nn.Linear(dim, vocab).to("cuda")
        self.active = {}

    @torch.no_grad()
    def decode(self, prompt, length):
        beams = 32
        hidden = torch.zeros(beams, 192, device="cuda")
        for token in prompt:
            hidden = self.cell(self.embed(torch.full((beams,), token, device="cuda")), hidden)
        for _ in range(length):
            scores = self.out(hidden)  # ALSO
            token = torch.distributions.Categorical(logits=scores).sample()  # ALSO
            yield int(token[0])
            hidden = self.cell(self.embed(token), hidden)  # SITE

    def open(self, reader, prompt, length):
        self.active[reader] = self.decode(prompt, length)  # HOLDER

    def read(self, reader):
        try:
            return next(self.active[reader])
        except StopIteration:
            del self.active[reader]
            return None


def main():
    torch.manual_seed(22)
    rng = random.Random(22)
    streamer, tokens, finished = TokenStreamer(), 0, 0
    for reader in range(400):
        length = rng.randint(4, 10)
        streamer.open(reader, [rng.randrange(100) for _ in range(4)], length)
        patience = rng.choice([3, 4, 20])
        for _ in range(patience):
            if streamer.read(reader) is None:
                finished += 1
                break
            tokens += 1
        if reader % 100 == 99:
            print(f"{reader + 1} readers, {tokens} tokens sent, {finished} streams finished")


if __name__ == "__main__":
    main()
