#pragma once
// What PyTorch's autograd engine is doing on this thread: the number that ties a backward allocation to its forward line.
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// Writes what holds for the allocation that comes next on this thread, where that changed. `has_stack`: it has Python frames.
void write_autograd(Thread &thread, bool has_stack);

/// PyTorch numbered a new autograd node on this thread: its number and Python stack go to the log.
void node_made(uint64_t sequence);

/// As hook_tensor_layer_by_slots, for node numbers.
void hook_autograd_by_slots();

}  // namespace gmt::inject
