"""Trains with ranges of NVTX by PyTorch, by the package nvtx where it is there, and of record_function with and without emit_nvtx; says itself their
names in order, and how much was allocated in each."""
import contextlib

import torch
import truth

try:
    import nvtx
except ImportError:
    nvtx = None

pushed = torch.cuda.nvtx.range
ranges = []


def allocated():
    return torch.cuda.memory_stats()["allocated_bytes.all.allocated"]


@contextlib.contextmanager
def told(name, make):
    place = len(ranges)
    ranges.append(None)
    with make(name):
        before = allocated()
        yield
        ranges[place] = [name, allocated() - before]


model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
for step in range(8):
    # Odd steps tell record_function as ranges of NVTX, even ones as it is.
    with torch.autograd.profiler.emit_nvtx() if step % 2 else contextlib.nullcontext():
        with told("train_step", pushed):
            with told("forward", nvtx.annotate if nvtx else pushed):
                with told("data", torch.profiler.record_function):
                    x = torch.randn(256, 512, device="cuda")
                loss = model(x).pow(2).mean()
            with told("backward", pushed):
                loss.backward()
            with told("update", torch.profiler.record_function):
                optimizer.step()
                optimizer.zero_grad()
across = torch.cuda.nvtx.range_start("across")
before = allocated()
kept = torch.empty(64 << 20, device="cuda")
ranges.append(["across", allocated() - before])
torch.cuda.nvtx.range_end(across)
truth.write(ranges=ranges, package=nvtx is not None)
