"""Graphs and a MemPool with pools of their own, as PyTorch's allocator tells them. `pools_program.py SHAPE`: whether it tells of one pool."""

import os
import sys
import time

import torch
import tracing

SHAPE = sys.argv[1]


class _CUDAGraph:
    def __init__(self, pool=None):
        self.captured = pool

    def pool(self):
        if self.captured is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self.captured


class CUDAGraph(_CUDAGraph):
    def pool(self):
        raise AssertionError("code of the program ran")


class _MemPool:
    id = property(lambda self: (0, 7))


def segment(address, pool, device=0):
    return {"device": device, "address": address, "segment_pool_id": pool, "blocks": []}


SEGMENTS = [segment(0x10000, (0, 0)), segment(0x20000, (1, 0)), segment(0x30000, (1, 0), 1), segment(0x40000, (2, 0))]
asked = []


def of_pool(pool):
    asked.append(pool)
    return {"segments": [each for each in SEGMENTS if pool is None or each["segment_pool_id"] == pool]}


def of_all():
    asked.append(None)
    return {"segments": SEGMENTS}


core = torch._C
core._CUDAGraph, core._MemPool = _CUDAGraph, _MemPool
core._cuda_memorySnapshot = of_pool if SHAPE == "one" else of_all
core._cuda_isHistoryEnabled = lambda: SHAPE == "history"
torch.cuda.is_initialized = lambda: True


assert tracing.begin()
time.sleep(1.2)
assert asked == [], "there was nothing to ask for"
graphs = [CUDAGraph((1, 0)), CUDAGraph((1, 0)), CUDAGraph()]
other, pool = CUDAGraph((2, 0)), _MemPool()
tracing.report(0x2000, 512, reserved=4 << 20)  # the agent looks by itself once the reserve has changed
if SHAPE == "history":
    time.sleep(1.5)
    os._exit(0)
assert tracing.wait(lambda: tracing.logged(b"__main__.other"))
del other
SEGMENTS.append(segment(0x50000, (0, 7)))
