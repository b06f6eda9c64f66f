"""Three captured graphs with pools of their own, one more that shares the first one's, a MemPool, and eager tensors; GMT_FULL=1: the
graphs keep most of the GPU, and something else does not fit. What the allocator has by pool goes to the truth."""
import os
import time

import torch
import truth

torch.manual_seed(0)
FULL = os.environ.get("GMT_FULL") == "1"
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda().eval()
static = torch.randn(4096, 512, device="cuda")


def capture(rows, pool=None):
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, pool=pool):
        if FULL:
            torch.empty(torch.cuda.mem_get_info()[1] // 4, dtype=torch.uint8, device="cuda")
        out = model(static[:rows]) * 2
    return graph, out


with torch.no_grad():
    model(static)
torch.cuda.synchronize()
graphs = [capture(rows) for rows in (1024, 2048, 4096)]
if not FULL:
    graphs.append(capture(512, graphs[0][0].pool()))
scratch = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(scratch):
    kept = torch.zeros(3 << 20, device="cuda")
    torch.zeros(5 << 20, device="cuda")
time.sleep(2.5)  # the agent looks within a second or so
eager = [torch.randn(1 << 20, device="cuda") for _ in range(5)]
for graph, _ in graphs:
    graph.replay()
torch.cuda.synchronize()
print(sum(out.double().sum().item() for _, out in graphs) + sum(each.double().sum().item() for each in eager), flush=True)
if FULL:
    torch.empty(torch.cuda.mem_get_info()[1] // 2, dtype=torch.uint8, device="cuda")
pools = {}
for segment in torch.cuda.memory_snapshot():
    pool = pools.setdefault("%d:%d" % segment["segment_pool_id"], [0, 0])
    pool[0] += segment["total_size"]
    pool[1] += sum(block["size"] for block in segment["blocks"] if block["state"] == "active_allocated")
truth.write(pools=pools)
