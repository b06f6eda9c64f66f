#pragma once
// Calls out of Python that run without the GIL: PyTorch's bindings give it up before an operation and take it again behind it. In
// between no frame of the thread can continue, so one walk is enough for all that the operation allocates and all its nodes.

namespace gmt::inject {

/// From here on the calls of PyTorch's Python library (libtorch_python.so) are followed, once its import slots are bound. Cheap where
/// they are, or never will be. Where they cannot be followed, each event has a walk of its own.
void follow_python_calls();

}  // namespace gmt::inject
