"""Fine-tunes a small language model. Its memory grows with every step: GPU Memory Trace shows the line and the fix."""

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, WIDTH, LAYERS, BATCH, LENGTH, STEPS = 8000, 512, 4, 16, 256, 80


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True) for _ in range(LAYERS)
        )
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def batch(size):
    return torch.randint(VOCABULARY, (size, LENGTH), device="cuda")


def train():
    torch.manual_seed(0)
    model = LanguageModel().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    val_total = torch.zeros((), device="cuda")
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, batch(BATCH))
        loss.backward()
        optimizer.step()

        val_loss = loss_of(model, batch(2))
        val_total += val_loss  # keeps the autograd graph of every step
        if step % 20 == 19:
            print(f"step {step + 1}: loss {loss.item():.3f}, validation {val_total.item() / (step + 1):.3f}")


if __name__ == "__main__":
    train()
