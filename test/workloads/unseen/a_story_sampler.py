"""Sample a story per prompt with a growing key/value cache."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(30)
DIM, HEADS, DEPTH, VOCAB = 512, 8, 3, 2000


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM, bias=False)
        self.proj = nn.Linear(DIM, DIM, bias=False)

    def forward(self, x, cache):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if cache:
            k = torch.cat([cache["k"], k], dim=2)
            v = torch.cat([cache["v"], v], dim=2)
        causal = not cache
        cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return x + self.proj(y.transpose(1, 2).reshape(b, t, DIM))


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList(Attention() for _ in range(DEPTH))
        self.caches = [{} for _ in range(DEPTH)]

    def start(self):
        for cache in self.caches:
            cache.clear()

    def forward(self, ids):
        x = self.embed(ids)
        for layer, cache in zip(self.layers, self.caches):
            x = layer(x, cache)
        return x[:, -1] @ self.embed.weight.T


@torch.inference_mode()
def main():
    sampler = Sampler().to("cuda").eval()
    stories = []
    for prompt in range(12):
        sampler.start()
        ids = torch.randint(0, VOCAB, (4, 64), device="cuda")
        tokens = []
        for _ in range(60):
            probs = F.softmax(sampler(ids) / 0.9, dim=-1)
            ids = torch.multinomial(probs, 1)
            tokens.append(ids)
        stories.append(torch.cat(tokens, dim=1).tolist())
        time.sleep(0.1)
    print("stories", len(stories), "first words", stories[-1][0][:5])


if __name__ == "__main__":
    main()
