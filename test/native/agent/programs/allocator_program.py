"""Blocks that wait for another stream, as the stand-in for PyTorch tells of them. `allocator_program.py SHAPE`."""

import sys
import time

import torch
import tracing

SHAPE = sys.argv[1]


def wait_for_stream(waiting):
    torch.allocator_stats[0] = {"allocated_bytes": torch.stat(512), "active_bytes": torch.stat(512 + waiting)}


def steps():
    """How soon the next step is looked at depends on how long the last look took, so they go on until there were twelve."""
    optimizer = torch.optim.Optimizer()
    step = 0
    while len(asked) < 12:
        step += 1
        wait_for_stream(1000 * step)
        time.sleep(0.01)
        optimizer.step()
    print(step)
    for _ in range(1000):  # so short that not each is looked at
        optimizer.step()


def no_steps():
    torch.allocator_stats[0] = {"allocated_bytes": torch.stat(512), "active_bytes": torch.stat(4096)}
    begin = time.monotonic()
    while len(asked) < 4:
        tracing.report(0x2000, 512)
        tracing.report(0x2000, -512)
        time.sleep(0.01)
    print(time.monotonic() - begin)


def silent():
    """It has other counts than these, or fails."""
    optimizer = torch.optim.Optimizer()
    for step in range(20):
        torch.allocator_stats.clear()
        if step % 2:
            torch.allocator_stats[0] = {"segments": {}}
        time.sleep(0.005)
        optimizer.step()


asked = []
if SHAPE != "silent":
    torch._C._cuda_memoryStats = lambda device: asked.append(device) or torch.allocator_stats[device]
if SHAPE == "silent":
    torch.allocator_stats.clear()
assert tracing.begin()
{"steps": steps, "no steps": no_steps, "silent": silent}[SHAPE]()
