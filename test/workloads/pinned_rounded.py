"""Weights of experts wait in pinned host memory, each a little larger than a power of two. `pinned_rounded.py each|slices|register`: how
they are pinned. Needs a GPU."""
import json
import sys

import torch

BYTES, COUNT = 72 << 20, 24
CASE = sys.argv[1]
device = torch.zeros(8, device="cuda")
if CASE == "slices":
    buffers = [torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
    per_buffer = (1 << 30) // BYTES
experts = []
for index in range(COUNT):
    if CASE == "each":
        host = torch.empty(BYTES, dtype=torch.uint8).pin_memory()  # SITE
    elif CASE == "slices":
        begin = index % per_buffer * BYTES
        host = buffers[index // per_buffer][begin : begin + BYTES]
    else:
        host = torch.empty(BYTES, dtype=torch.uint8)
        assert int(torch.cuda.cudart().cudaHostRegister(host.data_ptr(), host.nbytes, 0)) == 0
    experts.append(host)  # HOLDER
del host
slot = torch.empty(BYTES, dtype=torch.uint8, device="cuda")
for step in range(200):
    slot.copy_(experts[step % COUNT], non_blocking=True)
    torch.cuda.synchronize()
print(json.dumps({"pinned": all(one.is_pinned() for one in experts), "needed": BYTES * COUNT}))
