"""Small ALiBi language model with a sequence length curriculum."""
import torch
import torch.nn.functional as F
from torch import nn

DEV = "cuda"
STEPS, BATCH, VOCAB, DIM, HEADS = 900, 12, 256, 192, 6


class Bias:
    """Causal ALiBi bias for each length that the curriculum uses."""

    def __init__(self):
        self.table = {}
        self.slopes = torch.tensor([2.0 ** -(i + 1) for i in range(HEADS)], device=DEV).view(HEADS, 1, 1)

    def __call__(self, n):
        if n not in self.table:
            pos = torch.arange(n, device=DEV)
            dist = pos[None, :] - pos[:, None]
            bias = dist * self.slopes
            self.table[n] = bias.masked_fill(dist > 0, float("-inf"))
        return self.table[n]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.o = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, bias):
        b, n, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, n, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + self.o(a.transpose(1, 2).reshape(b, n, DIM))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        nn.init.normal_(self.emb.weight, std=0.02)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.bias = Bias()

    def forward(self, t):
        x = self.emb(t)
        for layer in self.layers:
            x = layer(x, self.bias(t.shape[1]))
        return x @ self.emb.weight.T


def length_at(step):
    return min(384, 32 + 16 * (step // 15))


torch.manual_seed(3)
model = LM().to(DEV)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
sched = torch.optim.lr_scheduler.LinearLR(opt, 0.05, 1.0, total_iters=80)
for step in range(STEPS):
    n = length_at(step)
    start = torch.randint(0, VOCAB, (BATCH, 1), device=DEV)
    text = (start + 3 * torch.arange(n + 1, device=DEV)) % VOCAB
    loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
print(f"lm: length {n} loss {loss.item():.4f}")
