#pragma once
// The searches through the interpreter's objects that Python itself would be too slow for. They look, and call nothing but the
// tp_traverse of types, as the collector does; the GIL is held all the while, so that no object goes away.
#include "inject/agent/api.h"

namespace gmt::inject {

/// Whether types are laid out as this file takes it. `probe` is a class made in Python.
bool search_works(const PythonApi &api, Py *probe);

/// A list of those `objects` (a list) whose type is one of `types` (a list).
Py *pick(const PythonApi &api, Py *objects, Py *types);

/// Goes from roots towards `targets`, nearest first. `waves`: a list of lists of roots; what a wave reaches, a later one does not.
/// `barriers`: a list of objects that are not entered. Containers of very many objects come last. Gives a list: for each target None
/// or [wave, place of the root in it, root, ..., target]; and behind the last 1, or 0 where there was no time for all. Null: no
/// memory.
Py *descend(const PythonApi &api, Py *waves, Py *barriers, Py *targets, uint64_t milliseconds);

/// Who refers to one of `wanted`, among `objects`: a list of pairs, referrer and referred in turn, cut short at `most` pairs.
Py *referrers(const PythonApi &api, Py *objects, Py *wanted, uint64_t most);

/// What the collector knows, the oldest first (about: by generation). `get_objects`: gc.get_objects. Objects that are just being
/// deallocated are left out: such a one is still among the collector's where its deallocation has released the GIL (a
/// tensor's does, while its memory is given back), and to hold it would not keep it. Null: it failed.
Py *living(const PythonApi &api, Py *get_objects);

/// The place of each of `wanted` in `objects`, 0 where it is not there: a list of numbers.
Py *places(const PythonApi &api, Py *objects, Py *wanted);

}  // namespace gmt::inject
