"""Trains a small Transformer, and keeps too much: the script of the pictures in README.md."""

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"


class Model(nn.Module):
    def __init__(self, words=2000, width=256, layers=2):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)))


def loss_of(model, rows):
    tokens = torch.randint(2000, (rows, 33), device=device)
    logits = model(tokens[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


torch.manual_seed(0)
model = Model().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
val_total = 0.0

for step in range(1, 81):
    loss = loss_of(model, rows=8)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    val_loss = loss_of(model, rows=2)
    val_total += val_loss
    if step % 10 == 0:
        print(f"step {step}: {val_total / step:.3f}", flush=True)
