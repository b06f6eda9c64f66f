#pragma once
// The driver layer where a process has no libcupti at all: the calls of the table are wrapped on their way out of dlsym and
// cuGetProcAddress, which is how every CUDA runtime and ctypes program gets at them.

namespace gmt::inject {

/// True where the driver layer is recorded by wrappers: the program was handed some, and CUPTI does not see its calls.
bool driver_is_wrapped();

/// The tracer's function that stands before this one of CUPTI, null: none.
void *cupti_stand_in(const char *name);

/// As dlsym(3), always the C library's own: the tracer defines one too, so its own look-ups must name the real one.
void *real_dlsym(void *handle, const char *name);

/// Sets a function to that of this name in a library; false: it has none.
template <class Function>
bool resolve(void *library, Function *function, const char *name) {
  *function = reinterpret_cast<Function>(real_dlsym(library, name));
  return *function != nullptr;
}

}  // namespace gmt::inject
