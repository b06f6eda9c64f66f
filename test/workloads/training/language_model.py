"""Trains a small GPT on made text, and follows how sure of itself it is."""

import argparse
import math
import os
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    vocabulary: int = 128
    context: int = 48
    width: int = 96
    heads: int = 4
    layers: int = 2


class MadeText(Dataset):
    """Sentences of a little grammar: each token tells which few may follow it."""

    def __init__(self, length, config, seed):
        generator = torch.Generator().manual_seed(seed)
        follows = torch.randint(config.vocabulary, (config.vocabulary, 4), generator=generator)
        choices = torch.randint(4, (length,), generator=generator).tolist()
        tokens = [0]
        for choice in choices:
            tokens.append(int(follows[tokens[-1], choice]))
        self.tokens, self.context = torch.tensor(tokens), config.context

    def __len__(self):
        return (len(self.tokens) - 1) // self.context

    def __getitem__(self, index):
        begin = index * self.context
        return self.tokens[begin : begin + self.context], self.tokens[begin + 1 : begin + self.context + 1]


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        self.register_buffer("mask", torch.ones(config.context, config.context, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x):
        rows, length, width = x.shape
        q, k, v = self.qkv(x).view(rows, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(width // self.heads)
        weights = scores.masked_fill(~self.mask[:length, :length], float("-inf")).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(rows, length, width))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.mlp = nn.Sequential(nn.Linear(config.width, 4 * config.width), nn.GELU(), nn.Linear(4 * config.width, config.width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.places = nn.Parameter(0.02 * torch.randn(config.context, config.width))
        self.blocks = nn.Sequential(*[Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.places[: tokens.size(1)])))


def entropy_of(logits):
    """Mean entropy of the predictions, in nats."""
    log_probs = F.log_softmax(logits, dim=-1)
    return -(log_probs.exp() * log_probs).sum(dim=-1).mean()


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    losses = []
    for inputs, targets in loader:
        logits = model(inputs.to(device))
        losses.append(F.cross_entropy(logits.flatten(0, 1), targets.to(device).flatten()).item())
    model.train()
    return sum(losses) / len(losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.manual_seed(args.seed)

    config = Config()
    loader = DataLoader(MadeText(48_000, config, args.seed), args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(MadeText(4_000, config, args.seed), args.batch_size)
    model = GPT(config).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))

    metrics = {"loss": [], "entropy": [], "grad_norm": []}
    for epoch in range(args.epochs):
        for inputs, targets in loader:
            logits = model(inputs.to(args.device))
            loss = F.cross_entropy(logits.flatten(0, 1), targets.to(args.device).flatten())
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            optimizer.step()
            warmup.step()
            metrics["loss"].append(loss.item())
            metrics["entropy"].append(entropy_of(logits))
            metrics["grad_norm"].append(norm.item())
        entropy = sum(each.item() for each in metrics["entropy"][-len(loader) :]) / len(loader)
        mean_loss, mean_norm = (sum(metrics[name][-len(loader) :]) / len(loader) for name in ("loss", "grad_norm"))
        val_loss = evaluate(model, val_loader, args.device)
        print(f"epoch {epoch}: loss {mean_loss:.3f} entropy {entropy:.3f} norm {mean_norm:.3f} val {val_loss:.3f}", flush=True)
    print(f"perplexity: {math.exp(evaluate(model, val_loader, args.device)):.2f}")


if __name__ == "__main__":
    main()
