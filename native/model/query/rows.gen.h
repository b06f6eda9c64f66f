#pragma once
// Rows of answers. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "model/state/types.h"

namespace gmt::model {

struct SiteFigures {
  /// Live bytes.
  int64_t live_bytes = {};
  /// Live blocks.
  int64_t live_count = {};
  /// Mean size of the live blocks.
  double mean_bytes = {};
  /// Highest live bytes at any one time; of a function, file or thread with several lines, at least this. Exact for a whole site or line, and for a process or device alone on its layer; for sums of several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one maker).
  int64_t peak_bytes = {};
  /// Allocations so far.
  uint64_t allocations = {};
  /// Frees so far.
  uint64_t frees = {};
  /// All bytes ever allocated.
  uint64_t allocated_bytes = {};
  /// Least-squares slope of live bytes over the recent past, bytes a second.
  double growth = {};
  /// Thread index within `process`, -1 = several.
  int32_t thread = -1;
  /// -1 = several.
  int32_t process = -1;
  /// -1 = host, none or several.
  int32_t device = -1;
};
/// By what rows are sorted; 0 where it is no figure.
inline double figure(const SiteFigures &of, SiteSort sort) {
  switch (sort) {
    case SiteSort::LiveBytes:
      return static_cast<double>(of.live_bytes);
    case SiteSort::LiveCount:
      return static_cast<double>(of.live_count);
    case SiteSort::MeanBytes:
      return static_cast<double>(of.mean_bytes);
    case SiteSort::PeakBytes:
      return static_cast<double>(of.peak_bytes);
    case SiteSort::Allocations:
      return static_cast<double>(of.allocations);
    case SiteSort::Frees:
      return static_cast<double>(of.frees);
    case SiteSort::AllocatedBytes:
      return static_cast<double>(of.allocated_bytes);
    case SiteSort::Growth:
      return static_cast<double>(of.growth);
    default:
      return 0;
  }
}
/// A row of live memory: a site, or a group of them.
struct SiteRow : SiteFigures {
  /// The site’s id for groupBy `site`, else the id of the group’s biggest site.
  uint32_t id = {};
  /// `Site.key` of that site.
  uint64_t key = {};
  /// False: of the row only what lives is known.
  bool has_history = true;
  /// Live bytes at the ends of 16 steps at equal distances, the last as it is now, for a spark line; where no steps are known, at the ends of 16 equal spans of the run so far.
  double spark[16] = {};
  /// Of the user frame, or the innermost one. Line 0 and empty file: no Python line.
  std::string file = {};
  uint32_t line = {};
  std::string function = {};
  LineSource source = LineSource::None;
  /// `Site.library` of that site.
  std::string library = {};
  /// Name of the group as text (thread `python:123`, process `train.py (123)`, device `gpu_0`, else `file:line`, or the library’s file name where there is no line).
  std::string label = {};
};
struct SiteRows {
  uint64_t revision = 0;
  size_t total = 0;
  /// Sums over all rows that match, not only the window’s.
  int64_t sum_live_bytes = {};
  int64_t sum_live_count = {};
  std::vector<SiteRow> rows;
};

/// A live block.
struct AllocationRow {
  uint64_t address = {};
  uint64_t bytes = {};
  int32_t device = {};
  /// Index of the process.
  uint32_t process = {};
  uint32_t thread = {};
  Layer layer = {};
  uint32_t site = {};
  uint64_t time_ns = {};
  /// Handle; `STREAM_UNKNOWN`: not known.
  uint64_t stream = GMT_UNKNOWN;
  /// enum gmt_kind of native/wire.
  uint8_t kind = {};
  /// The step in which it was allocated, from 1.
  uint32_t step = {};
  /// How many steps of its process have ended since.
  uint32_t age_steps = {};
  uint8_t category = {};
  /// `encoder.layers.3.linear1.weight`; empty if it has no name.
  std::string name = {};
  /// Path of the module that has it or made it, `encoder.layers.3`; empty: none did, or it is not known.
  std::string module = {};
  /// Requested bytes, of tensors; NaN: the framework’s allocator did not report them.
  uint64_t asked_bytes = GMT_UNKNOWN;
  uint64_t pool_owner = GMT_UNKNOWN;
  uint64_t pool_number = GMT_UNKNOWN;
};
struct AllocationRows {
  uint64_t revision = 0;
  size_t total = 0;
  /// Without memory that other processes own.
  int64_t sum_bytes = {};
  std::vector<AllocationRow> rows;
};

struct SegmentBlock {
  /// Index into the segments.
  uint32_t segment = {};
  /// From the segment’s begin.
  uint64_t offset = {};
  uint64_t bytes = {};
  uint32_t site = {};
  uint32_t age_steps = {};
  /// Index into `CATEGORIES`.
  uint8_t category = {};
};

struct SiteSeriesRow {
  uint32_t id = {};
  /// -1 = several.
  int32_t device = -1;
  LineSource source = {};
  /// Last step with an allocation, 0 = none; it may be the running step, count + 1.
  uint32_t last_allocation_step = {};
  /// The greatest age of a block that was freed, in steps; 0: none outlived a whole step.
  uint32_t oldest_freed_steps = {};
  /// Allocations that a framework’s caching allocator made for its segments: such a site follows the tensors.
  uint64_t segment_allocations = {};
  /// What most of its live bytes are for now.
  uint8_t category = static_cast<uint8_t>(Category::Unnamed);
};

struct Fragmentation {
  uint64_t segments = {};
  uint64_t segment_bytes = {};
  /// Segments that hold both a live block and a gap.
  uint64_t partly_used_segments = {};
  /// Of free bytes, those in segments without any live block: PyTorch can give them back.
  uint64_t empty_bytes = {};
  /// In all segments.
  uint64_t free_bytes = {};
  /// The longest gap.
  uint64_t largest_free_bytes = {};
};

struct PoolRow {
  uint32_t process = {};
  int32_t device = {};
  PoolKind kind = PoolKind::Unknown;
  /// Graphs, or MemPools, that still have it.
  uint32_t makers = {};
  /// As PyTorch numbers it, `0:3`; empty: not known.
  std::string id = {};
  /// What it is, with a path to one of these.
  std::string label = {};
  uint64_t segments = {};
  uint64_t reserved_bytes = {};
  uint64_t live_bytes = {};
  /// Who took its biggest segment from the driver.
  uint32_t site = {};
  void checkpoint(Archive &a) {
    a(process, device, kind, makers, id, label, segments, reserved_bytes, live_bytes);
    gmt::model::row(a, kSiteRows, site);
  }
};

struct SnapshotSite {
  uint32_t site = {};
  int64_t live_bytes = {};
  int64_t live_count = {};
  /// Step of its oldest live block.
  uint32_t oldest_step = {};
  /// Live bytes now less those at the end of the last step.
  int64_t grown_bytes = {};
  /// Of the live bytes, those that wait for a backward pass.
  int64_t activation_bytes = {};
  /// Allocated in the running step.
  double step_allocated_bytes = {};
  /// The mean of up to 8 steps before it.
  double usual_allocated_bytes = {};
  void checkpoint(Archive &a) {
    a(live_bytes, live_count, oldest_step, grown_bytes, activation_bytes, step_allocated_bytes, usual_allocated_bytes);
    gmt::model::row(a, kSiteRows, site);
  }
};

}  // namespace gmt::model
