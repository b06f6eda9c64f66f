#pragma once
// Where PyTorch's segments lie: chains of blocks, one behind the other.
#include "uprobe/before/block.h"
#include "uprobe/before/torch.h"

namespace gmt::uprobe {

/// Where a segment lies does not change as long as it lives, so what one look misses because it changes another may add. It is over
/// when enough looks in a row find nothing new. False: that many there were not.
bool read_segments(BoundedMemory &memory, const BlockShape &shape, const MapRun &run, BeforeMemory *out);

}  // namespace gmt::uprobe
