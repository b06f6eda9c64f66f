"""Tensors that torch_memory_saver pauses and resumes; without the package it says so and ends."""
import json
import os
import sys
import time

import torch

try:
    from torch_memory_saver import torch_memory_saver as saver
except ImportError:
    print("no torch_memory_saver")
    raise SystemExit(0)

saver.hook_mode = "torch"
MB = 2**20
with saver.region(tag="cache", enable_cpu_backup=True):
    cache = [torch.full((256 * MB,), i, dtype=torch.uint8, device="cuda") for i in range(8)]
other = torch.ones(64 * MB, device="cuda")
torch.cuda.synchronize()
full = torch.cuda.mem_get_info()[0]
saver.pause("cache")
torch.cuda.synchronize()
print("given back", torch.cuda.mem_get_info()[0] - full >= 8 * 255 * MB)
if sys.argv[1:] == ["resume"]:
    saver.resume("cache")
    print("values", [int(one[-1]) for one in cache])
print("live", json.dumps(torch.cuda.memory_allocated()), flush=True)
time.sleep(1)
torch.cuda.synchronize()
os._exit(0)  # the package does not free its tensors at the interpreter's end
