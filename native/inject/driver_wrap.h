#pragma once
// The driver layer where a process has no libcupti at all: the calls of the table are wrapped on their way out of dlsym and
// cuGetProcAddress, which is how every CUDA runtime and ctypes program gets at them.

namespace gmt::inject {

/// True once some program part was handed a wrapped call, or would be: no libcupti can be found.
bool driver_is_wrapped();

/// The tracer's function that stands before this one of CUPTI, null: none.
void *cupti_stand_in(const char *name);

}  // namespace gmt::inject
