#pragma once
#include <cstddef>
#include <cstdint>

// Called through the PLT, as PyTorch's libc10_cuda.so does: a tracer may stand in between.
namespace c10 {
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
struct Device {
  DeviceType type;
  int8_t index;
};
__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device);
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device);
}  // namespace c10
