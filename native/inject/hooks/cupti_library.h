#pragma once
// Finding the libcupti that this process should use, and its functions.
#include "cuda/cupti.h"

namespace gmt::inject {

/// The process's own libcupti where one is mapped (PyTorch brings it), else what GPU_MEMTRACE_CUPTI names, else what the
/// loader finds by name. Null: none. Looked for once it is first needed, again while there is none. `path`: where it came from.
const cuda::Cupti *cupti_library();
const char *cupti_path();

}  // namespace gmt::inject
