#pragma once
// A snapshot's history keeps only the newest actions. Runs it through once, to find what was there before it begins, what of
// it has no record, and how big blocks really are.
#include <cstdint>
#include <map>
#include <vector>

#include "trace/error.h"
#include "trace/snapshot/segment_pieces.h"
#include "trace/snapshot/snapshot_data.h"

namespace gmt::trace {

struct SnapshotBeginning {
  std::vector<SnapshotSegment> segments;    ///< whole ones; of expandable ones see `pieces`
  std::vector<SnapshotBlock> blocks;        ///< stack 0: only its free was recorded
  std::map<uint8_t, SegmentPieces> pieces;  ///< by device, in the state of the beginning
  uint64_t unrecorded_blocks = 0;           ///< that came or went without a record
  uint64_t unrecorded_segments = 0;
};

/// Changes the actions of `data`: sizes are what the allocator handed out (of blocks that were freed: rounded up as it does),
/// frees that repeat a free become kNone, and what the history lacks is added at its end. `where` begins the sentence that
/// refuses a history with maps beyond all measure.
Result<SnapshotBeginning> replay_snapshot(SnapshotData &data, const std::string &where);

}  // namespace gmt::trace
