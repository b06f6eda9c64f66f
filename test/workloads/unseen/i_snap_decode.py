"""Greedy decoding of a few prompts with a per-request key/value cache."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
VOCAB, DIM, HEADS, DEPTH, BATCH = 4096, 512, 8, 4, 16
REQUESTS, PROMPT, NEW_TOKENS = 6, 128, 72


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x, past):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        att = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.proj(att.transpose(1, 2).reshape(b, t, DIM))
        return x + self.mlp(x), (k, v)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(DEPTH))
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, ids, cache):
        x = self.embed(ids)
        for i, layer in enumerate(self.layers):
            x, cache[i] = layer(x, cache[i])
        return self.head(x[:, -1])


@torch.inference_mode()
def generate(model, prompt):
    cache = [None] * DEPTH
    pieces = [model(prompt, cache).argmax(-1, keepdim=True)]
    for _ in range(NEW_TOKENS - 1):
        pieces.append(model(pieces[-1], cache).argmax(-1, keepdim=True))
    return torch.cat(pieces, dim=1).cpu()


torch.manual_seed(0)
model = Decoder().to(DEV).eval()
torch.cuda.memory._record_memory_history(max_entries=200000)
distinct = set()
for request in range(REQUESTS):
    prompt = torch.randint(0, VOCAB, (BATCH, PROMPT), device=DEV)
    distinct.update(generate(model, prompt).flatten().tolist())
torch.cuda.memory._dump_snapshot("i_snap_decode.pickle")
print(f"requests {REQUESTS} distinct tokens {len(distinct)}")
