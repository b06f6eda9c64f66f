#pragma once
// What PyTorch's caching allocator says of its own blocks at the end of a training step; without steps, about once a second. A
// tensor is reported as freed at once; a block that another stream uses (`record_stream`) stays active until that stream is done, of
// which is not reported. So the allocator is queried, by its own function, on a thread of the program that has the GIL.
#include "inject/agent/api.h"

namespace gmt::inject {

/// The agent found `torch._C._cuda_memoryStats`: it is kept.
void watch_allocator(Py *stats);

/// Asks for each GPU on which the allocator holds memory, which makes no context. Passes over steps where asking would cost more
/// than a small share of the time. At the end of a step; needs the GIL.
void read_allocator_at_step();

/// The same for a program that has no steps, from a moment at which the main thread is between two instructions.
void read_allocator_without_steps();

/// Without the GIL: whether such a moment is needed.
bool allocator_due();

/// Without the GIL: whether the allocator has other segments than when pools were looked at, which is long enough ago.
bool pools_due();
void pools_looked_at(uint64_t milliseconds);

/// After a fork: the child counts from its own beginning.
void forget_allocator();

}  // namespace gmt::inject
