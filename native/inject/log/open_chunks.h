#pragma once
// Which thread writes which chunk. An open chunk cannot be freed, so there are only so many: a thread continues in a chunk that
// an ended one left, else in that of a thread which is not writing just now, and which finds another one when it is to write again.
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// A place among the first `places`, and the chunk that was there (null: none). False: all belong to threads that are writing. Where the
/// thread may end unseen (`stays` false), it gets a chunk that an ended one left, and no place.
bool take_place(Thread &thread, uint32_t places, bool stays);

/// Whether the place is still this thread's, once no thread is about to take it.
bool keeps_place(Thread &thread);

/// Gives the place up, with the chunk where others may continue in it; else the thread has it still.
void leave_place(Thread &thread, bool with_chunk);

/// After a fork: the chunks belong to the parent's log.
void open_chunks_forget();

}  // namespace gmt::inject
