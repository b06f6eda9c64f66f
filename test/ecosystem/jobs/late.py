"""CUDA is there before a Tracker is."""

import gpu
import gpu_memtrace

kept = gpu.empty(1 << 20)
gpu_memtrace.mark("nothing")
gpu_memtrace.step()
print(gpu_memtrace.recorded(), gpu_memtrace.metrics())
try:
    with gpu_memtrace.Tracker("late.gputrace"):
        print("recorded")
except gpu_memtrace.NotRecorded as error:
    print(error)
