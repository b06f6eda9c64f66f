#pragma once
// What a PyTorch memory snapshot says, as plain records: the allocator's history and what it held in the end.
#include <cstdint>
#include <string>
#include <vector>

#include "trace/error.h"
#include "trace/snapshot/pickle_tree.h"
#include "trace/snapshot/snapshot_stacks.h"
#include "wire/layout.h"

namespace gmt::trace {

struct SnapshotAction {
  enum Kind : uint8_t {
    kNone,  ///< changes nothing that is counted
    kAlloc,
    kFreeRequested,  ///< the program gives the memory back
    kFreeCompleted,  ///< no stream uses it any more
    kSegmentAlloc,
    kSegmentFree,
    kSegmentMap,
    kSegmentUnmap,
    kOutOfMemory,
    kStep,  ///< a step of the program ended
    kRangeBegin,
    kRangeEnd,
  };
  uint64_t address;  ///< of kStep and ranges: its number, from 1; of kOutOfMemory: what was free, or GMT_UNKNOWN
  uint64_t bytes;    ///< of kAlloc and the frees: as requested, until a better figure is known
  uint64_t stream;
  uint64_t time_us;  ///< since the epoch, rising
  uint32_t stack;    ///< 0 = unknown
  uint8_t device;    ///< GMT_DEVICE_NONE: pinned memory of the host
  Kind kind;
  std::string_view text = {};  ///< in the tree: of kAlloc what the program wrote beside it, of kRangeBegin its name
};

/// A block that a tensor had in the end.
struct SnapshotBlock {
  uint64_t address;
  uint64_t bytes;
  uint32_t stack;
  uint8_t device;
  // What else the snapshot has; GMT_UNKNOWN: nothing.
  uint64_t asked_bytes = GMT_UNKNOWN;
  uint64_t stream = GMT_UNKNOWN;
  uint64_t pool_owner = GMT_UNKNOWN;
  uint64_t pool_number = GMT_UNKNOWN;
};

struct SnapshotSegment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stream = 0;
  uint32_t stack = 0;
  uint8_t device = 0;
  bool expandable = false;
  uint64_t pool_owner = GMT_UNKNOWN;
  uint64_t pool_number = GMT_UNKNOWN;
};

struct SnapshotData {
  std::vector<SnapshotAction> actions;  ///< of all devices, by time
  std::vector<SnapshotSegment> segments;
  std::vector<SnapshotBlock> blocks;
  uint64_t unreadable = 0;  ///< entries without what they need
  bool own_steps = false;   ///< the program names its steps; else they are the optimizer's
  bool timed = false;       ///< the actions have times
};

/// `where` begins the sentence on why it is none.
Result<SnapshotData> read_snapshot(const PickleTree &tree, FieldReader &fields, SnapshotStacks &stacks,
                                   const std::string &where);

}  // namespace gmt::trace
