"""Blocks that wait for another stream, as the stand-in for PyTorch tells of them. `allocator_program.py SHAPE`."""

import sys
import time

import torch
import tracing

SHAPE = sys.argv[1]


def wait_for_stream(waiting):
    torch.allocator_stats[0] = {"allocated_bytes": torch.stat(512), "active_bytes": torch.stat(512 + waiting)}


def steps():
    optimizer = torch.optim.Optimizer()
    for step in range(1, 21):
        wait_for_stream(1000 * step)
        time.sleep(0.01)
        optimizer.step()
    for _ in range(1000):  # so short that not each is looked at
        optimizer.step()


def no_steps():
    torch.allocator_stats[0] = {"allocated_bytes": torch.stat(512), "active_bytes": torch.stat(4096)}
    until = time.monotonic() + 3.2
    while time.monotonic() < until:
        tracing.report(0x2000, 512)
        tracing.report(0x2000, -512)
        time.sleep(0.01)


def silent():
    """It has other counts than these, or fails."""
    optimizer = torch.optim.Optimizer()
    for step in range(20):
        torch.allocator_stats.clear()
        if step % 2:
            torch.allocator_stats[0] = {"segments": {}}
        time.sleep(0.005)
        optimizer.step()


if SHAPE == "silent":
    torch.allocator_stats.clear()
assert tracing.begin()
{"steps": steps, "no steps": no_steps, "silent": silent}[SHAPE]()
