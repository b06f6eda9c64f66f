#pragma once
// The tensor layer: PyTorch's caching allocator reports every block that it hands out or takes back to
// c10::reportMemoryUsageToProfiler, with the device's allocator locked. The tracer stands in front of that function.

namespace gmt::inject {

/// Where the tracer was not preloaded: points PyTorch's import slots at it. Cheap where no library was added since.
void hook_tensor_layer_by_slots();

}  // namespace gmt::inject
