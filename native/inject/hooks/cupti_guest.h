#pragma once
// Sharing the one CUPTI subscription of the process with the program's own profiler (Kineto in torch.profiler, for one).
// The tracer defines CUPTI's subscription functions itself; the loader finds them before libcupti's, and once the tracer has its
// subscription libcupti exports them as its own. A profiler that subscribes gets the real handle and its callbacks; it can
// switch on and off what it likes except what the tracer needs.
#include <stdint.h>

#include "cuda/cupti.h"

namespace gmt::inject {

/// Gives a callback to the program's profiler if it enabled it.
void pass_to_guest(uint32_t domain, uint32_t id, const void *data);

/// As hook_tensor_layer_by_slots: for processes where the tracer was not preloaded.
void hook_cupti_by_slots();

/// For profilers that look CUPTI's functions up by dlsym, once the tracer has its subscription.
void hook_cupti_by_exports(const cuda::Cupti &cupti);

}  // namespace gmt::inject
