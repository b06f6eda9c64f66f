#pragma once
// The autograd node that PyTorch's engine runs on the calling thread.
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// Looks for what tells it; false: this PyTorch does not export that, or there is none.
bool find_running_node();

/// Number of the node and of the thread that made it, by Node::sequence_nr() and thread_id(). False: no node runs on this thread.
bool running_node(Thread &thread, uint64_t *sequence, uint32_t *torch_thread);

}  // namespace gmt::inject
