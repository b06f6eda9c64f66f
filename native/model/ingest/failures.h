#pragma once
// Allocations that failed: each is counted, those for want of memory are listed with what memory looked like.
#include "model/ingest/context.h"

namespace gmt::model {

constexpr size_t kOutOfMemory = 1000;  ///< failures that are listed: the first kFirstSnapshots and the newest
constexpr size_t kSnapshots =
    16;  ///< of them that keep what memory looked like: the first, and the newest that came apart
constexpr size_t kFirstSnapshots = 8;

void handle_failure(const Context &context);

}  // namespace gmt::model
