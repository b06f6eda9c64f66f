#pragma once
// The live blocks of a framework's allocator.
#include <cstdint>

#include "model/state/live_table.h"

namespace gmt::model {

struct TensorBlock {
  uint64_t address;
  uint64_t bytes : 48;
  uint64_t device : 8;
  uint64_t taken : 1;
  uint64_t named : 1;       ///< NameBook has it
  uint64_t activation : 1;  ///< its operation left a node in autograd's graph
  uint64_t detailed : 1;    ///< DetailBook has it
  uint64_t time_ns;
  uint32_t cell;  ///< what made it, see Accounts
  uint32_t step;  ///< in which it was allocated
  void checkpoint(Archive &a) {
    uint64_t size = bytes;
    auto on = static_cast<uint8_t>(device);
    auto flags = static_cast<uint8_t>(named | activation << 1 | detailed << 2);
    a(address, size, on, flags, time_ns, step);
    row(a, kCellRows, cell);
    bytes = size & 0xffff'ffff'ffff;
    device = on;
    named = flags & 1;
    activation = flags >> 1 & 1;
    detailed = flags >> 2 & 1;
  }
};
static_assert(sizeof(TensorBlock) == 32);

using TensorTable = LiveTable<TensorBlock>;

}  // namespace gmt::model
