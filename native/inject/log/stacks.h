#pragma once
// Python stacks of the calling thread, each written to the log once and named by a number after that.
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// Walks this thread's Python frames and gives the stack's id in the log; 0 = no Python here, or no room (counted).
/// `ending`: the interpreter is shutting down, so there is no stack to be had.
uint32_t python_stack(Thread &thread, bool *ending);

/// As python_stack, for events that come in the same order in each training step: the next one's place is fetched ahead.
uint32_t python_stack_in_order(Thread &thread, bool *ending);

/// How it is known that a call out of Python still runs (hooks/python_calls.h): while `*slot` is `hook`, none returns unseen.
struct CallEnds {
  void *const *slot;
  void *hook;
};
extern CallEnds g_call_ends;
/// Thread::call_frame's lowest bit: `call_stack` is the stack.
constexpr uintptr_t kStackKnown = 1;

/// The stack of these frames, which a caller remembers (python::remembered_frame): `walk.depth` of them; gives as python_stack.
uint32_t remembered_stack(Thread &thread, python::Walk &walk);

/// Once each time that code of torch.compile was met for the first time.
bool met_compiled_code();

}  // namespace gmt::inject
