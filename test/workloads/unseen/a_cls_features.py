"""Extract one vector per text with a small encoder and run a nearest-neighbour check at the end."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.mix = nn.Linear(dim, dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        att = torch.softmax(x @ x.transpose(1, 2) / x.shape[-1] ** 0.5, dim=-1)
        x = x + self.mix(att @ x)
        return x + self.down(F.gelu(self.up(x)))


class Encoder(nn.Module):
    def __init__(self, vocab=3000, dim=256, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.norm(x)  # SITE


def read_batch(index):
    time.sleep(0.06)
    gen = torch.Generator().manual_seed(index)
    return torch.randint(0, 3000, (32, 64), generator=gen)


def main():
    encoder = Encoder().to("cuda").eval()
    vectors = []
    with torch.inference_mode():
        for part in range(20):
            for sub in range(2):
                ids = read_batch(part * 2 + sub).to("cuda")
                hidden = encoder(ids)  # SITE
                vectors.append(hidden[:, 0])  # HOLDER
        table = F.normalize(torch.cat(vectors), dim=-1)
        sims = table @ table.T
        sims.fill_diagonal_(-1.0)
    print(f"{table.shape[0]} vectors, mean best match {sims.max(-1).values.mean().item():.4f}")


if __name__ == "__main__":
    main()
