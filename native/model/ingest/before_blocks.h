#pragma once
// What was there when recording was switched on, as the framework's allocator told it then.
#include "model/state/state.h"
#include "trace/batch.h"

namespace gmt::model {

class LifetimeLog;

/// Takes a GMT_BEFORE: what is not known yet begins, and behind the last part of a list what is not in it has ended.
void take_before(State &all, ProcessState &process, const trace::Said &said, LifetimeLog *lifetimes);

}  // namespace gmt::model
