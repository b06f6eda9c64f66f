// The two functions of PyTorch's libc10.so through which its allocators report to a profiler, with the C++ names
// of PyTorch 2.x. They do nothing, as PyTorch's own do while no profiler runs.
#include <cstddef>
#include <cstdint>

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };

struct Device {
  DeviceType type;
  int8_t index;
};

__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device) {}
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) {}

}  // namespace c10
