"""A training that is recorded from a step on, and once more after a pause in which memory came and went.

`asleep.py WHAT`: `step` and `reserved` train until the end; `pause` switches the recording by the control word. The truth: what
PyTorch's allocator has at the end.
"""

import sys
import time

import torch
import truth

WHAT = sys.argv[1]
STEPS, WIDTH = 20, 256
model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH)).to("cuda")
optimizer = torch.optim.Adam(model.parameters())
here = sys.modules.get("as_gpu")  # PyTorch's CPU build, in the place of a GPU's
if here:
    here.tell_blocks()
asked = []
snapshot = torch._C._cuda_memorySnapshot


def counted(*arguments):
    asked.append(True)
    return snapshot(*arguments)


torch._C._cuda_memorySnapshot = counted

kept = [torch.empty(1 << 20, device="cuda") for _ in range(3)]


def step():
    optimizer.zero_grad()
    model(torch.randn(64, WIDTH, device="cuda")).square().mean().backward()
    optimizer.step()


def pause():
    from paused_control import Control

    control = Control()
    control.set(False)
    kept.pop()
    kept.append(torch.empty(3 << 20, device="cuda"))
    kept.append(torch.empty(5000, device="cuda"))
    for _ in range(3):
        step()
    control.set(True)
    while not asked:
        time.sleep(0.01)


for number in range(STEPS):
    step()
    if number % 5 == 0:
        kept.append(torch.empty(1 << 20, device="cuda"))
    if WHAT == "pause" and number == STEPS // 2:
        pause()
times = len(asked)  # by the tracer: what follows asks as well
blocks = [
    [address, block["size"]]
    for segment in (snapshot() if here else torch.cuda.memory_snapshot())
    for address, block in ((each["address"], each) for each in segment["blocks"])
    if block["state"] == "active_allocated"
]
allocated = here.allocated_bytes() if here else torch.cuda.memory_allocated()
truth.write(blocks=blocks, allocated=allocated, asked=times, steps=STEPS)
