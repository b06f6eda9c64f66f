#pragma once
// Gradients, read where nobody computes them.
#include "inject/agent/api.h"

namespace gmt::inject {

/// Whether some thread's Python stack says that it runs a backward pass: its C++ part holds no GIL, and what it works on must not be
/// touched meanwhile. `current_frames`: sys._current_frames.
bool in_backward(const PythonApi &api, Py *current_frames);

/// The gradients of tensors (None: of an entry that is None, or without one), by `getter`. Null, without an error, while a backward pass
/// runs: PyTorch 2.13 has no lock between one that gives a tensor its gradient and another thread that reads it, and the program
/// crashes. From the look at the threads to the last gradient the GIL is not given away, so none begins in between.
Py *gradients(const PythonApi &api, Py *getter, Py *current_frames, Py *tensors);

}  // namespace gmt::inject
