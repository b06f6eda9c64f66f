#pragma once
// The C library's own dlsym: the tracer defines one too (driver_wrap.cpp), so its own look-ups must name the real one.

namespace gmt::inject {

/// As dlsym(3), always the C library's.
void *real_dlsym(void *handle, const char *name);

}  // namespace gmt::inject
