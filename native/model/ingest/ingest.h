#pragma once
// Events in, one after another. Each goes to its subject: tensor_events, driver_events (and handle_events, free_undo),
// step_events, failures; records that are no events to records.
#include "model/state/state.h"
#include "trace/batch.h"

namespace gmt::model {

class LifetimeLog;

/// Takes one process's next events into the state; `lifetimes` (nullptr: none) gets the allocations that end.
void ingest(State &all, const trace::Batch &batch, LifetimeLog *lifetimes);

}  // namespace gmt::model
