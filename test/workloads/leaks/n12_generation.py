"""Keys and values of one generation after another."""
import random
import torch

random.seed(3)
proj = torch.nn.Linear(256, 512).cuda()


@torch.no_grad()
def generate(tokens):
    cache = None
    x = torch.randn(4, 1, 256, device="cuda")
    for _ in range(tokens):
        kv = proj(x)
        cache = kv if cache is None else torch.cat([cache, kv], dim=1)
        x = x + cache.mean(1, keepdim=True)[..., :256]
    return x


for request in range(40):
    generate(random.randint(20, 90))
