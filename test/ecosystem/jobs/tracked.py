"""A block under a Tracker; what it says of itself is printed as JSON, beside what the allocator knows."""

import json
import sys
import warnings

import gpu_memtrace

with gpu_memtrace.Tracker(sys.argv[1]) as tracker:
    gpu_memtrace.mark("before CUDA")
    import gpu

    kept = [gpu.empty(1 << 20) for _ in range(10)]
    gpu_memtrace.mark("before eval")
    gone = gpu.empty(5 << 20)
    del gone
    for _ in range(3):
        gpu_memtrace.step()
    told = {"peak": tracker.peak(), "uses": [use._asdict() for use in tracker.uses()]}
    told["alive"] = [[line.bytes, line.blocks, line.stack[0][1]] for line in tracker.alive()]
    told["metrics"] = gpu_memtrace.metrics()
later = gpu.empty(1 << 20)  # behind the block: not in its trace
with warnings.catch_warnings(record=True) as said:
    with gpu_memtrace.Tracker(sys.argv[1] + "2"):
        again = gpu.empty(1 << 20)
told["warned"] = len(said)
print(json.dumps(told))
