import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(33)
device = "cuda"
STEPS, SEQ, DIM, HEADS, VOCAB = 100, 384, 64, 4, 200


class BiasTable:
    """Distance bias for a window of the token stream."""

    def __init__(self):
        self.ready = {}

    def get(self, start, n):
        key = (start, n)
        if key not in self.ready:
            pos = torch.arange(start, start + n, device=device)
            gap = (pos[:, None] - pos[None, :]).float()
            bias = torch.where(gap >= 0, -0.02 * gap, float("-inf"))  # SITE
            self.ready[key] = bias  # HOLDER
        return self.ready[key]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM))

    def forward(self, x, bias):
        n = x.shape[1]
        q, k, v = self.qkv(self.n1(x)).view(len(x), n, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-1, -2) / (DIM // HEADS) ** 0.5 + bias).softmax(-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(len(x), n, DIM))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(DIM, VOCAB)
        self.table = BiasTable()

    def forward(self, tokens, start):
        bias = self.table.get(start, tokens.shape[1])
        x = self.emb(tokens)
        for block in self.blocks:
            x = block(x, bias)
        return self.head(x)


stream = torch.randint(0, VOCAB, (4, STEPS * SEQ + 1), device=device)
stream[:, 1::2] = (stream[:, 0:-1:2] + 7) % VOCAB
model = LM().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(STEPS):
    start = step * SEQ
    x, y = stream[:, start:start + SEQ], stream[:, start + 1:start + SEQ + 1]
    loss = F.cross_entropy(model(x, start).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"final loss {loss.item():.4f}")
