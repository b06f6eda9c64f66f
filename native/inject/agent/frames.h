#pragma once
// The local variables of a frame, read where they lie. frame.f_locals would do up to 3.12, but it stores what it shows in the
// frame, which keeps it alive, and it renews a dict that the program may have got from locals().
#include "inject/agent/api.h"

namespace gmt::inject {

/// A list of the values of the frame's variables, in the order of its code's variables, cells and free variables; None for one
/// without a value, and a cell object for one that is kept in a cell. Null, without an error set: this version is not read so.
/// `frame` is a frame object, `count` the number of its variables; the GIL is held.
Py *frame_values(const PythonApi &api, uint32_t version, Py *frame, uint32_t count);

}  // namespace gmt::inject
