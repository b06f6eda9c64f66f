"""Blocks that a busy side stream still uses when their tensors go. `waiting.py`, with the shape in GMT_SHAPE:

`share`: the side stream is three steps behind. `grows`: it falls behind ever more. `together`: it is waited for.
"""

import json
import os
import time

import torch

SHAPE = os.environ["GMT_SHAPE"]
BLOCK = 64 << 20
STEPS = 300 if SHAPE == "grows" else 60  # it is not looked at each of so short steps
PAUSE = 0.005  # seconds, where the side stream falls behind: the allocator is asked by the time, and a step of 1 ms is no usual one
CYCLES = 40_000_000  # of the GPU's clock: about 20 ms

device = torch.device("cuda")
model = torch.nn.Linear(256, 256).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
side = torch.cuda.Stream()
ends = []
waiting = []


def pending():
    stats = torch.cuda.memory_stats()
    return stats["active_bytes.all.current"] - stats["allocated_bytes.all.current"]


def lend_to_side_stream():
    block = torch.zeros(BLOCK, dtype=torch.uint8, device=device)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(CYCLES)
        block.add_(1)
    block.record_stream(side)
    ends.append(side.record_event())
    if SHAPE == "together":
        side.synchronize()
    elif SHAPE == "share" and len(ends) > 3:
        ends.pop(0).synchronize()
    elif SHAPE == "grows":
        time.sleep(PAUSE)


for _ in range(STEPS):
    lend_to_side_stream()
    optimizer.zero_grad()
    model(torch.ones(64, 256, device=device)).sum().backward()
    optimizer.step()
    waiting.append(pending())

begin = time.perf_counter()
for _ in range(200):
    torch._C._cuda_memoryStats(0)
cost = (time.perf_counter() - begin) / 200
torch.cuda.synchronize()
with open(os.environ["GMT_TRUTH"], "w") as file:
    json.dump({"waiting": waiting, "costMicroseconds": cost * 1e6}, file)
