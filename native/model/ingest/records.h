#pragma once
// Records that are no events: what blocks are for, what the framework's allocator says, answers of the agent.
#include "model/state/state.h"

namespace gmt::model {

class LifetimeLog;

/// Applies all that holds from behind an event before the sequence `before`.
void apply_records(State &all, ProcessState &process, uint64_t before, LifetimeLog *lifetimes);

}  // namespace gmt::model
