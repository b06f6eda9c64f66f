"""Packs utterances of ragged lengths to blocks of equal length in the collate function of a DataLoader.
Report: https://github.com/ByteDance-Seed/Bagel/issues/168
Class: collate-state
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BLOCK, FEATURES, EPOCHS = 256, 640, 3


class Utterances(Dataset):
    def __init__(self, count):
        gen = torch.Generator().manual_seed(5)
        self.lengths = torch.randint(30, 260, (count,), generator=gen).tolist()

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        gen = torch.Generator().manual_seed(index)
        return torch.randn(self.lengths[index], FEATURES, generator=gen)


class Packer:
    """Joins what was left of the last batch and the new utterances, and cuts blocks from it."""

    def __init__(self, block):
        self.block = block
        self.left = []
        self.blocks = 0

    def __call__(self, utterances):
        parts = [part.to("cuda") for part in utterances]
        joined = torch.cat(self.left[-1:] + parts)
        count = len(joined) // self.block
        cut = count * self.block
        rest = joined[cut:].clone()  # SITE
        self.left.append(rest)  # HOLDER
        self.blocks += count
        return joined[:cut].view(count, self.block, FEATURES)


class NextFrame(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(FEATURES, 96)
        self.conv = nn.Conv1d(96, 96, 5)
        self.up = nn.Linear(96, FEATURES)

    def forward(self, x):
        h = self.down(x).relu().transpose(1, 2)
        return self.up(self.conv(nn.functional.pad(h, (4, 0))).relu().transpose(1, 2))


def main():
    torch.manual_seed(16)
    packer = Packer(BLOCK)
    loader = DataLoader(Utterances(360), batch_size=5, shuffle=True, collate_fn=packer)
    net = NextFrame().to("cuda")
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        total = torch.zeros((), device="cuda")
        for blocks in loader:
            loss = nn.functional.smooth_l1_loss(net(blocks[:, :-1]), blocks[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            total += loss.detach()
        print(f"epoch {epoch}: loss {total.item() / len(loader):.4f}, {packer.blocks} blocks so far")


main()
