#pragma once
// What memory looks like at one moment: what it is for, and who holds most.
#include "model/state/state.h"

namespace gmt::model {

/// Of one process on one device, for an allocation on the layer that failed.
MemorySnapshot memory_snapshot(const State &state, uint32_t process, Layer failed, uint8_t device);

}  // namespace gmt::model
