"""Prunes a small DistilBERT in many rounds; each round's masks are made permanent before the next one.
Report: https://github.com/pytorch/pytorch/issues/34257
Class: pruning-masks
"""
import torch
from torch import nn
from torch.nn.utils import prune
from transformers import DistilBertConfig, DistilBertForMaskedLM

ROUNDS, STEPS, WORDS, MASK = 26, 6, 200, 1


def build():
    config = DistilBertConfig(
        vocab_size=WORDS, dim=144, n_layers=2, n_heads=4, hidden_dim=432, max_position_embeddings=32, dropout=0.0,
        attention_dropout=0.0,
    )
    return DistilBertForMaskedLM(config).to("cuda")


def batch(gen):
    """Rows of numbers that count up, some of them hidden."""
    start = torch.randint(2, WORDS, (14, 1), generator=gen)
    pace = torch.randint(1, 4, (14, 1), generator=gen)
    rows = 2 + (start + pace * torch.arange(28)) % (WORDS - 2)
    hidden = torch.rand(rows.shape, generator=gen) < 0.2
    labels = rows.masked_fill(~hidden, -100)
    return rows.masked_fill(hidden, MASK).to("cuda"), labels.to("cuda")


class Pruner:
    """Takes a share of the weights that are left, over all linear layers of the blocks."""

    def __init__(self, model):
        self.model = model
        blocks = [m for name, m in model.named_modules() if "layer" in name]
        self.where = [(m, "weight") for m in blocks if isinstance(m, nn.Linear)]
        self.gone = []

    def round(self, share):
        total = sum(module.weight.numel() for module, _ in self.where)
        zeros = sum(int((module.weight == 0).sum()) for module, _ in self.where)
        amount = zeros + int(share * (total - zeros))
        prune.global_unstructured(self.where, pruning_method=prune.L1Unstructured, amount=amount)

    def settle(self):
        zeros = total = 0
        for module, name in self.where:
            prune.remove(module, name)
            weight = module.weight
            zeros += int((weight == 0).sum())
            total += weight.numel()
        self.gone.append(zeros / total)


def train(model, gen):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        ids, labels = batch(gen)
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(84)
    gen = torch.Generator().manual_seed(84)
    model = build()
    pruner = Pruner(model)
    train(model, gen)
    for number in range(1, ROUNDS + 1):
        pruner.round(share=0.08)
        loss = train(model, gen)
        pruner.settle()
        if number % 5 == 1:
            print(f"round {number}: loss {loss:.4f} without {pruner.gone[-1]:.3f} of the weights")


main()
