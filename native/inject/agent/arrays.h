#pragma once
// Arrays of other libraries than PyTorch, as the agent's Python part (arrays.py) tells of them, or CuPy's memory pool itself. They are
// events of the tensor layer. What is called from Python has the GIL.
#include "inject/agent/api.h"

namespace gmt::inject {

void use_arrays(const PythonApi &api);

/// (address, bytes, device, [code object, innermost first], [byte offset in each])
Py *array_came(Py *, Py *const *arguments, ssize_t count);
/// (address, bytes, device)
Py *array_gone(Py *, Py *const *arguments, ssize_t count);
/// (milliseconds until the agent wants to look again)
Py *set_look(Py *, Py *const *arguments, ssize_t count);
/// Such a look is due. Without the GIL.
bool look_due();

/// (`get_memory_hooks` of CuPy, the hook to add to what that gives, the allocator)
Py *watch_cupy(Py *, Py *const *arguments, ssize_t count);
/// Stands in for CuPy's allocator: adds the hook to those of the calling thread, once.
Py *cupy_allocate(Py *, Py *const *arguments, ssize_t count);
/// What a pool of CuPy calls with names for its arguments.
Py *cupy_given(Py *, Py *const *arguments, ssize_t count, Py *names);
Py *cupy_taken(Py *, Py *const *arguments, ssize_t count, Py *names);
Py *cupy_nothing(Py *, Py *const *arguments, ssize_t count, Py *names);

}  // namespace gmt::inject
