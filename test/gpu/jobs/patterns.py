"""Random calls around PyTorch's operations, PyTorch's own history beside the tracer in one run: the frames of every live block, as
PyTorch recorded them. GMT_BLOCKS: how many are kept; GMT_SEED."""
import os
import sys

import torch
import truth
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads"))
from call_patterns import Patterns

GPU = "cuda"
WANTED, SEED = int(os.environ.get("GMT_BLOCKS", "22000")), int(os.environ.get("GMT_SEED", "1"))
WIDE = 8


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * 2)
        return x + 1

    @staticmethod
    def backward(ctx, grad):
        keep(grad * 3)
        return grad


class Net(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(WIDE, WIDE) for _ in range(layers)])

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(SEED)
x = torch.randn(WIDE, WIDE, device=GPU)
w = torch.randn(WIDE, WIDE, device=GPU, requires_grad=True)
one, three = Net(1).to(GPU), Net(3).to(GPU)
embedding = torch.nn.Embedding(10, WIDE).to(GPU)
index = torch.tensor([1, 2, 3], device=GPU)
hooked = Net(2).to(GPU)
hooked.layers[0].register_forward_hook(lambda module, inputs, output: keep(output * 2))
kept = []


def keep(tensor):
    kept.append(tensor)


def deep(f, *words):
    return (lambda *inner: f(*inner))(*words)


def mul(a, b):
    return a * b


def with_gradients(random):
    way = random.randrange(10)
    if way == 0:
        keep(one(x))
    if way == 1:
        keep(three(x))
    if way == 2:
        keep(embedding(index))
    if way == 3:
        keep(deep(mul, x, w))
        keep(deep(mul, x, w.detach()))
    if way == 4:
        keep(w.t().reshape(-1))
        keep(w.detach().t().reshape(-1))
    if way == 5:
        keep(Own.apply(x * w))
    if way == 6:
        keep(checkpoint(three, x * w, use_reentrant=False))
    if way == 7:
        (hooked(x) + Own.apply(w)).sum().backward()
    if way == 8:
        keep(torch.nn.functional.layer_norm(x @ w, (WIDE,)))
    if way == 9:
        keep(torch.stack([x + i for i in range(3)]))


def leaf(random):
    with_gradients(random)
    way = random.randrange(5)
    if way == 0:
        with torch.no_grad():
            keep(one(x))
            with_gradients_off(random)
    if way == 1:
        with torch.inference_mode():
            with_gradients_off(random)
    if way == 2:
        keep(torch.empty(random.randrange(1, 700), device=GPU))
    if way == 3:
        out = one(x)
        with torch.no_grad():
            keep(one(x))
        del out


def with_gradients_off(random):
    keep(deep(mul, x, w))
    keep(three(x))
    keep(embedding(index))
    keep(w.t().reshape(-1))


if __name__ == "__main__":
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=1)
    sys.setrecursionlimit(10_000)
    patterns = Patterns(SEED, leaf)
    while len(kept) < WANTED:
        patterns.run(patterns.random.choice((3, 10, 40, 110)))
    blocks = []
    for segment in torch.cuda.memory._snapshot()["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                frames = [[f["filename"], f["line"], f["name"]] for f in block.get("frames", [])]
                blocks.append({"address": block["address"], "bytes": block["size"], "frames": frames})
    truth.write(blocks=blocks)
