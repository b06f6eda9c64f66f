#pragma once
// What the model knows of one process besides who holds how much.
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/address_table.h"
#include "model/line_finder.h"
#include "model/tensor_table.h"
#include "model/timeline_series.h"
#include "model/undo.h"
#include "model/virtual_memory.h"

namespace gmt::model {

struct ProcessState {
  TensorTable tensors;
  std::array<AddressTable, kSpaces> tables;  ///< of the driver layer
  VirtualMemory memory;
  UndoRing undo;
  LineFinder lines;
  std::map<uint8_t, TimelineSeries> reserved;            ///< by device
  std::map<uint8_t, int64_t> reserved_bytes;             ///< by device, now
  std::unordered_map<uint64_t, uint8_t> context_device;  ///< from allocations that named both
  bool recording = true;
  bool ending = false;               ///< clean-up has begun: what lived then is what lived to the end
  uint64_t events_after_ending = 0;  ///< not taken
  std::unordered_map<uint16_t, uint32_t> newest_driver_block;  ///< by thread: block it got from the driver last
  std::vector<Interval> pauses;                                ///< recording was off
  std::vector<Interval> gaps;                                  ///< the driver layer was blind
  uint64_t uncounted_intervals = 0;                            ///< pauses and gaps beyond the ones that are kept

  AddressTable &table(Space space) { return tables[static_cast<size_t>(space)]; }
};

}  // namespace gmt::model
