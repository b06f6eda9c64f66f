"""Blocks of which PyTorch's allocator tells what was asked for, stream and pool. `blocks_program.py SHAPE`."""

import sys

import torch
import tracing

SHAPE = sys.argv[1]
ALIVE = "active_allocated"
SEGMENTS = [
    {
        "device": 0, "address": 0x10000, "stream": 0, "segment_pool_id": (0, 0),
        "blocks": [
            {"address": 0x10000, "size": 512, "requested_size": 500, "state": ALIVE},
            {"address": 0x10200, "size": 512, "requested_size": 400, "state": ALIVE},
            {"address": 0x11000, "size": 512, "requested_size": 500, "state": "inactive"},
        ],
    },
    # As older ones tell: blocks have no address, and neither stream nor pool is known.
    {
        "device": 0, "address": 0x13E00,
        "blocks": [
            {"size": 512, "state": "inactive"},
            {"size": 1024, "requested_size": 513, "state": ALIVE},
        ],
    },
    {
        "device": 0, "address": 0x12000, "stream": 0x5570, "segment_pool_id": (0, 3),
        "blocks": [{"address": 0x12000, "size": 1024, "requested_size": 1000, "state": ALIVE}],
    },
]  # fmt: skip


def of_pool(pool):
    assert pool is None
    return {"segments": SEGMENTS, "device_traces": []}


def of_all():
    return SEGMENTS


def never(*arguments):
    raise AssertionError("the allocator was asked")


core = torch._C
core._cuda_memorySnapshot = {"new": of_pool, "old": of_all}.get(SHAPE, never)
core._cuda_isHistoryEnabled = lambda: SHAPE == "history"
torch.cuda.is_initialized = lambda: True
if SHAPE == "many":
    torch.allocator_stats[0]["active"] = torch.stat(10_000_000)
if SHAPE == "none":
    del core._cuda_memorySnapshot
first, second = torch.Tensor(0x10000, 512), torch.Tensor(0x12000, 1024)
pinned = torch.Tensor(0x16000, 512)
too_big = torch.Tensor(0x15000, 4096)  # a storage that is not the block's own
told = [["0x10000", 512, 0], ["0x11000", 512, 0], ["0x12000", 1024, 0], ["0x14000", 1024, 0], ["0x15000", 512, 0]]
told.append(["0x16000", 512, -1])
assert tracing.begin()
assert tracing.ask(1, "holders", addresses=told, budgetMs=10000)
