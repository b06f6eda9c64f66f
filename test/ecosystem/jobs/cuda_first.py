"""A Tracker, and CUDA that another library has initialised before PyTorch is imported."""

import ctypes
import json
import sys

import gpu_memtrace

with gpu_memtrace.Tracker(sys.argv[1]) as tracker:
    driver = ctypes.CDLL("libcuda.so.1")
    assert driver.cuInit(0) == 0
    import torch

    gpu = torch.cuda.is_available()
    kept = [torch.randn(1000, 1000, device="cuda" if gpu else "cpu") for _ in range(10)]
    kept.append(kept[0] @ kept[1])
    told = {"metrics": gpu_memtrace.metrics(), "line": tracker.alive()[0].stack[0][1]}
    if gpu:
        told["stats"] = torch.cuda.memory_stats()
    print(json.dumps(told))
