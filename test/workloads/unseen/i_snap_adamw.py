"""Memory anatomy of a single AdamW step of a small GPT."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
VOCAB, DIM, HEADS, DEPTH, SEQ, BATCH = 8192, 512, 8, 12, 256, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.fc, self.out = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, DIM))
        return x + self.out(F.gelu(self.fc(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, DIM), nn.Embedding(SEQ, DIM)
        self.blocks = nn.ModuleList([Block() for _ in range(DEPTH)])
        self.ln = nn.LayerNorm(DIM)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1], device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.ln(x) @ self.tok.weight.t()


torch.manual_seed(0)
torch.cuda.memory._record_memory_history(max_entries=200000)
model = GPT().to(DEV)
decay = [p for p in model.parameters() if p.dim() >= 2]
plain = [p for p in model.parameters() if p.dim() < 2]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=3e-4)

tokens = torch.randint(0, VOCAB, (BATCH, SEQ + 1), device=DEV)
logits = model(tokens[:, :-1])
loss = F.cross_entropy(logits.reshape(-1, VOCAB), tokens[:, 1:].reshape(-1))
loss.backward()
norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
opt.step()

torch.cuda.memory._dump_snapshot("i_snap_adamw.pickle")
print(f"loss {loss.item():.4f} grad norm {norm.item():.3f}")
