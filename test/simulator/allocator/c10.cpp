// The two functions of PyTorch's libc10.so through which its allocators report to a profiler, with the C++ names
// of PyTorch 2.x. They do nothing, as PyTorch's own do while no profiler runs.
#include "simulator/allocator/c10.h"

void c10::reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device) {}
void c10::reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) {}
