#pragma once
// What PyTorch's autograd engine is doing on this thread: the number that ties a backward allocation to its forward line.
#include <stdint.h>

#include "inject/log.h"

namespace gmt::inject {

/// State of the calling thread for the next tensor event. `has_stack`: it has Python frames. Never allocates, never locks.
gmt_autograd autograd_state(bool has_stack);

/// PyTorch numbered a new autograd node on this thread: its number and Python stack go to the log.
void node_made(uint64_t sequence);

/// As hook_tensor_layer_by_slots, for node numbers.
void hook_autograd_by_slots();

/// Why backward allocations cannot be tied to forward lines in this process, or null.
const char *autograd_trouble();

}  // namespace gmt::inject
