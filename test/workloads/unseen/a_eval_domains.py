"""Evaluate a classifier on held-out shards of one domain after the other and report the mean loss."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
SHARDS, BATCHES = 16, 4


def build_model():
    layers, width = [], 384
    for nxt in (1024, 1024, 512):
        layers += [nn.Linear(width, nxt), nn.LayerNorm(nxt), nn.SiLU()]
        width = nxt
    layers.append(nn.Linear(width, 20))
    return nn.Sequential(*layers)


def shard(index):
    gen = torch.Generator().manual_seed(100 + index)
    for _ in range(BATCHES):
        time.sleep(0.04)
        x = torch.randn(128, 384, generator=gen)
        y = torch.randint(0, 20, (128,), generator=gen)
        yield x.to("cuda"), y.to("cuda")  # SITE


def evaluate(model):
    model.eval()
    total_loss, correct, count = 0.0, 0, 0
    for index in range(SHARDS):
        for x, y in shard(index):
            logits = model(x)  # SITE
            loss = F.cross_entropy(logits, y)
            total_loss += loss  # HOLDER
            correct += (logits.argmax(-1) == y).sum().item()
            count += 1
    return total_loss / count, correct / (count * 128)


def main():
    model = build_model().to("cuda")
    loss, accuracy = evaluate(model)
    print(f"loss {loss.item():.4f} accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
