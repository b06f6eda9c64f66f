"""Packs ragged sensor records to blocks whose length grows with the epoch up to a limit; leftovers are used next.
Report: https://github.com/huggingface/trl/pull/4632
Class: collate-state
"""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CHANNELS, EPOCHS, LONGEST = 96, 14, 352


class Records(Dataset):
    def __init__(self, count):
        rng = random.Random(2)
        self.lengths = [int(rng.triangular(20, 700, 90)) for _ in range(count)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        gen = torch.Generator().manual_seed(index)
        t = torch.arange(self.lengths[index]) / (3 + index % 11)
        phases = torch.rand(CHANNELS, generator=gen) * 6.28
        return torch.sin(t[:, None] + phases) + 0.3 * torch.randn(len(t), CHANNELS, generator=gen)


class Packer:
    """Blocks of `self.block`; the rest of a batch and records that are too long wait for the next batch."""

    def __init__(self):
        self.block = 64
        self.waiting = []

    def grow(self, epoch):
        self.block = min(LONGEST, 64 + 36 * epoch)

    def __call__(self, records):
        parts = self.waiting + [record.to("cuda") for record in records]
        joined = torch.cat(parts)
        count = len(joined) // self.block
        self.waiting = [joined[count * self.block:].clone()]
        return joined[: count * self.block].view(count, self.block, CHANNELS)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.into = nn.Linear(CHANNELS, 64)
        self.mix = nn.MultiheadAttention(64, 4, batch_first=True)
        self.norm = nn.LayerNorm(64)
        self.out = nn.Linear(64, CHANNELS)

    def forward(self, x):
        h = self.into(x)
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device="cuda").triu(1)
        mixed, _ = self.mix(h, h, h, attn_mask=mask, need_weights=False)
        return self.out(self.norm(h + mixed))


def main():
    torch.manual_seed(26)
    packer, net = Packer(), Forecaster().to("cuda")
    loader = DataLoader(Records(150), batch_size=6, shuffle=True, collate_fn=packer)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        packer.grow(epoch)
        losses = []
        for blocks in loader:
            if len(blocks) == 0:
                continue
            loss = nn.functional.mse_loss(net(blocks[:, :-1]), blocks[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        if epoch % 2 == 1:
            print(f"epoch {epoch}: block {packer.block} loss {torch.stack(losses).mean().item():.4f}")


main()
