#pragma once
// Python stacks of the calling thread, each written to the log once and named by a number after that.
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// Walks this thread's Python frames and gives the stack's id in the log; 0 = no Python here, or no room (counted).
/// `ending`: the interpreter is shutting down, so there is no stack to be had.
uint32_t python_stack(Thread &thread, bool *ending);

/// As python_stack, for an autograd node: the allocations of that node's operation, which follow at once, have the same stack.
uint32_t python_stack_to_remember(Thread &thread);

/// As python_stack; without a walk where the one to remember still holds: the four innermost frames are the very same, at the same
/// instruction, and no other node was made since.
uint32_t python_stack_again(Thread &thread, bool *ending);

/// The stack of these frames, which somebody else remembers (python::remembered_frame): `walk.depth` of them; gives as python_stack.
uint32_t remembered_stack(Thread &thread, python::Walk &walk);

/// Once each time that code of torch.compile was met for the first time.
bool met_compiled_code();

}  // namespace gmt::inject
