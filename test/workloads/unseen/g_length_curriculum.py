"""Character transformer trained with a growing context length."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
DEV = "cuda"
STEPS, RAMP, START, FULL, BATCH, DIM, VOCAB = 240, 130, 16, 256, 32, 256, 96


class Block(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class CharLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(FULL, DIM))
        self.blocks = nn.Sequential(*[Block(DIM) for _ in range(4)])
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        return self.head(self.blocks(self.tok(ids) + self.pos[:ids.shape[1]]))


def context_length(step):
    frac = min(1.0, step / RAMP)
    return int(START + (FULL - START) * frac)


text = (torch.arange(500_000) * 7 % 89 + torch.randint(0, 3, (500_000,))) % VOCAB
model = CharLM().to(DEV)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
recent = []
for step in range(STEPS):
    n = context_length(step)
    starts = torch.randint(0, len(text) - n - 1, (BATCH,))
    chunk = torch.stack([text[s:s + n + 1] for s in starts.tolist()]).to(DEV)
    logits = model(chunk[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    recent.append(loss.detach())
    if len(recent) == 20:
        mean = torch.stack(recent).mean().item()
        recent.clear()
print(f"context {n} loss {mean:.4f}")
