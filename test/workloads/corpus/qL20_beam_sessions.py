"""Decodes with a small beam search that hands back one piece of text at a time to interactive users."""
import random

import torch
from torch import nn

BEAMS, HIDDEN, VOCAB = 12, 512, 90


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 32)
        self.cell = nn.GRUCell(32, HIDDEN)
        self.out = nn.Linear(HIDDEN, VOCAB)

    def forward(self, tokens, h):
        h = self.cell(self.embed(tokens), h)
        return self.out(h).log_softmax(-1), h


def beam_session(model, start, piece):
    tokens = torch.full((BEAMS,), start, device="cuda")
    scores = torch.full((BEAMS,), -1e9, device="cuda")
    scores[0] = 0.0
    hidden = torch.zeros(BEAMS, HIDDEN, device="cuda")
    text = []
    while True:
        for _ in range(piece):
            logp, hidden = model(tokens, hidden)
            scores, flat = (scores[:, None] + logp).flatten().topk(BEAMS)
            hidden = hidden[flat // VOCAB]  # SITE
            tokens = flat % VOCAB
            text.append(int(tokens[0]))
        yield text[-piece:]


class Console:
    def __init__(self, model):
        self.model = model
        self.sessions = []
        self.checksum = 0

    def open(self, start):
        session = beam_session(self.model, start, piece=5)
        self.sessions.append(session)  # HOLDER
        return self.advance(session)

    def advance(self, session):
        piece = next(session)
        self.checksum = (self.checksum * 7 + sum(piece)) % 99991
        return piece


@torch.no_grad()
def main():
    torch.manual_seed(90)
    rng = random.Random(90)
    console = Console(Decoder().to("cuda").eval())
    for request in range(1, 601):
        if console.sessions and rng.random() < 0.35:
            console.advance(rng.choice(console.sessions[-8:]))
        else:
            console.open(rng.randrange(VOCAB))
        if request % 120 == 0:
            print(f"request {request}: sessions {len(console.sessions)} checksum {console.checksum}")


main()
