#pragma once
// Chunks made ahead of need. Backing and mapping 256 KiB costs about 150 µs, a third of the price of the events in it; a thread
// of the tracer's own does it, from the moment on when the process has filled a chunk. Without that thread (it has fallen
// behind, this is a forked child) the writing thread makes its chunk itself.
#include "wire/layout.h"

namespace gmt::inject {

/// A chunk that lies ready, without its header; null: none.
gmt_chunk_header *supply_take();

/// Unmaps a full chunk, soon.
void supply_retire(gmt_chunk_header *chunk);

/// Starts a thread of the tracer's own; none of the program's signals is for it. False: it could not be made.
bool start_own_thread(void *(*run)(void *), void *argument);

/// Starts the thread once; `make` makes one chunk (null: no room). Cheap afterwards.
void supply_start(gmt_chunk_header *(*make)());

/// After a fork: thread and chunks are the parent's.
void supply_forget();

}  // namespace gmt::inject
