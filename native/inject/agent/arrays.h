#pragma once
// Arrays of other libraries than PyTorch, as the agent's Python part (arrays.py) reports them, or CuPy's allocator. They are events of
// the tensor layer. What is called from Python has the GIL.
#include "inject/agent/api.h"

namespace gmt::inject {

/// (address, bytes, device, [code object, innermost first], [byte offset in each]): it came; without the lists: it is gone
Py *tell_array(Py *, Py *const *arguments, ssize_t count);
/// The agent's next look is then.
void set_look(uint64_t milliseconds);
/// Such a look is due. Without the GIL.
bool look_due();

/// The class of the memory that CuPy's pools give out.
void watch_cupy(Py *pooled, Py *allocator);
/// Stands in for CuPy's allocator.
Py *cupy_allocate(Py *, Py *const *arguments, ssize_t count);

}  // namespace gmt::inject
