#pragma once
// What the agent's Python part may call, with the GIL: functions that give a new object, or null for None (and drop an error).
#include <stdint.h>

#include "inject/agent/api.h"

namespace gmt::inject {

// Local variables, read where they lie. frame.f_locals would do up to 3.12, but it stores what it shows in the frame, which keeps it
// alive, and it renews a dict that the program may have got from locals().

/// A list of the values of the frame's variables, in the order of its code's variables, cells and free variables; None for one
/// without a value, and a cell object for one that is kept in a cell. Null: this version is not read so. `count`: of its variables.
Py *frame_values(Py *frame, uint32_t count);

// Gradients, read while none is computed.

/// Whether some thread's Python stack says that it runs a backward pass: its C++ part holds no GIL, and what it works on must not be
/// touched meanwhile. `current_frames`: sys._current_frames.
bool in_backward(Py *current_frames);

/// The gradients of tensors (None: of an entry that is None, or without one), by `getter`. Null, without an error, while a backward pass
/// runs: PyTorch 2.13 has no lock between one that gives a tensor its gradient and another thread that reads it, and the program
/// crashes. From the look at the threads to the last gradient the GIL is not given away, so none begins in between.
Py *gradients(Py *getter, Py *current_frames, Py *tensors);

/// Workspaces that PyTorch made for cuBLAS (no Python object has them, and their size alone proves nothing): of each that is alive its
/// address and its device, in one list; an empty one where this PyTorch keeps them in another way than is known. Copies what it
/// reads, so that a table that another thread changes just now does no harm: it is given up then.
Py *workspaces();

// Searches through the interpreter's objects that Python itself would be too slow for. They look, and call nothing but the
// tp_traverse of types, as the collector does; no object goes away meanwhile.

/// `probe`, a class made in Python, where types are laid out as these searches take it; else null.
Py *searchable(Py *probe);

/// A list of those `objects` (a list) whose type is one of `types` (a list).
Py *pick(Py *objects, Py *types);

/// Goes from roots towards `targets`, nearest first. `waves`: a list of lists of roots; what a wave reaches, a later one does not.
/// `barriers`: a list of objects that are not entered. Containers of very many objects come last. Gives a list: for each target None
/// or [wave, place of the root in it, root, ..., target]; then 1, or 0 where there was no time for all. Null: no memory.
Py *descend(Py *waves, Py *barriers, Py *targets, uint64_t milliseconds);

/// Who refers to one of `targets`, among `objects`: a list of pairs, referrer and referred in turn, cut short at `most` pairs.
Py *referrers(Py *objects, Py *targets, uint64_t most);

/// What the collector tracks, the oldest first (about: by generation). `get_objects`: gc.get_objects. Objects that are just being
/// deallocated are left out: such a one is still among the collector's where its deallocation has released the GIL (a
/// tensor's does, while its memory is freed), and to hold it would not keep it. Null: it failed.
Py *living(Py *get_objects);

/// The place of each of `targets` in `objects`, 0 where it is not there: a list of numbers.
Py *places(Py *objects, Py *targets);

}  // namespace gmt::inject
