#pragma once
// Chunks at the end of the log's file, where there is room for them.
#include "inject/log/log.h"

namespace gmt::inject {

/// Of the open log.
const char *log_path();

/// One without a header, for later; null: there is no room.
gmt_chunk_header *make_spare_chunk();

/// A chunk for this thread to write from here on; null: counted.
gmt_chunk_header *new_chunk(const Thread &thread);

/// A new log has room until it is found to have none.
void new_chunk_forget();

}  // namespace gmt::inject
