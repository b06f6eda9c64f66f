#pragma once
// The tensor layer: PyTorch's caching allocator reports every block that it hands out or takes back to
// c10::reportMemoryUsageToProfiler, with the device's allocator locked. The tracer stands in front of that function.

#include <stdint.h>

namespace gmt::inject {

constexpr uint32_t kTensorDevices = 64;

/// What the framework's allocator held on the device at its last report; 0: it has made none.
uint64_t reserved_bytes(uint32_t device);

/// Where the tracer was not preloaded: points PyTorch's import slots at it. Cheap where no library was added since.
void hook_tensor_layer_by_slots();

}  // namespace gmt::inject
