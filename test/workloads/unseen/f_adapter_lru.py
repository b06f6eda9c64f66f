"""Serving one vision backbone with many customers' adapters, loaded as plugins."""
import random
from collections import OrderedDict

import torch
import torch.nn.functional as F

DEV = "cuda"
D, DEPTH, RANK = 768, 8, 32

PLUGINS = {}


def plugin(name):
    def deco(cls):
        PLUGINS[name] = cls
        return cls
    return deco


@plugin("lora")
class Lora:
    def __init__(self, seed):
        g = torch.Generator(DEV).manual_seed(seed)
        self.a = torch.randn(DEPTH, D, RANK, device=DEV, generator=g) * D ** -0.5
        self.b = torch.randn(DEPTH, RANK, D, device=DEV, generator=g) * 0.01

    def __call__(self, layer, x):
        return x @ self.a[layer] @ self.b[layer]


@plugin("scale")
class Scale:
    def __init__(self, seed):
        g = torch.Generator(DEV).manual_seed(seed)
        self.w = 1 + 0.01 * torch.randn(DEPTH, 96, D, device=DEV, generator=g)

    def __call__(self, layer, x):
        return x * self.w[layer, :x.shape[1]] - x


class AdapterCache:
    def __init__(self, limit):
        self.limit, self.items = limit, OrderedDict()
        self.loads = 0

    def get(self, kind, seed):
        key = (kind, seed)
        if key in self.items:
            self.items.move_to_end(key)
        else:
            self.loads += 1
            self.items[key] = PLUGINS[kind](seed)
            if len(self.items) > self.limit:
                self.items.popitem(last=False)
        return self.items[key]


class Backbone:
    def __init__(self):
        self.w = torch.randn(DEPTH, D, D, device=DEV) * D ** -0.5

    def __call__(self, x, adapter):
        for i in range(DEPTH):
            h = F.layer_norm(x, (D,))
            x = x + F.gelu(h @ self.w[i] + adapter(i, h))
        return x.mean(1)


if __name__ == "__main__":
    torch.manual_seed(0)
    rng, net, cache, checksum = random.Random(0), Backbone(), AdapterCache(limit=40), 0.0
    with torch.inference_mode():
        for req in range(4200):
            customer = min(int(rng.paretovariate(0.5)), 160)
            kind = "lora" if customer % 3 else "scale"
            x = torch.randn(8, 64 + 8 * (req % 5), D, device=DEV)
            out = net(x, cache.get(kind, customer))
            checksum += out[0, 0].item()
    print(f"{cache.loads} loads, resident {len(cache.items)}, checksum {checksum:.2f}")
