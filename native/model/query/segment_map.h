#pragma once
// A device's memory as one process holds it, in address order.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/query/rows.gen.h"

namespace gmt::model {

struct Segment {
  uint64_t begin;
  uint64_t end;
  uint64_t stream;
  uint64_t time_ns;  ///< of its first piece
  uint32_t cell;     ///< that took it
  bool mapped;       ///< put together from maps
  bool framework;    ///< taken by a caching allocator; of what is mapped, any piece of it
  uint64_t live_bytes = 0;
  uint64_t gap_bytes = 0;
  uint64_t largest_gap = 0;
  uint64_t blocks = 0;
  uint32_t pool = kNone;  ///< number in the process's PoolBook
};

struct SegmentMap {
  static constexpr size_t kSegments = 65'536;

  bool of_driver = false;  ///< no framework's allocator: the segments are the driver's allocations
  std::vector<Segment> segments;
  std::vector<uint32_t> sites;  ///< that took them
  std::vector<uint32_t> pools;  ///< numbers in pool_labels
  std::vector<std::string> pool_labels;
  size_t segments_left_out = 0;
  std::vector<SegmentBlock> blocks;
  size_t blocks_left_out = 0;
  uint64_t bytes_left_out = 0;
  size_t blocks_outside = 0;  ///< in no known segment
  uint64_t bytes_outside = 0;
  uint64_t revision = 0;  ///< of the state that answers
};

}  // namespace gmt::model
