#pragma once
// The framework's layer: its allocator's blocks, and what it keeps reserved.
#include "model/ingest/context.h"

namespace gmt::model {

void allocate_tensor(const Context &context);
void free_tensor(const Context &context);

/// The framework's allocator holds more or less than before.
void set_reserved(const Context &context);
/// The framework's reserve on the device is `bytes` from now on.
void reserve(ProcessState &process, uint8_t device, int64_t bytes, uint64_t time_ns);

}  // namespace gmt::model
