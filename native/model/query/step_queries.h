#pragma once
// Questions and answers about steps; extension/protocol/steps.ts says what each field means.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/query/rows.gen.h"
#include "model/state/name_book.h"
#include "model/state/names.h"
#include "model/state/types.h"
#include "model/steps/process_steps.h"
#include "trace/batch.h"

namespace gmt::model {

struct StepAxis {
  uint32_t process = 0;
  StepSource source = StepSource::Time;
  uint32_t count = 0;
  std::vector<StepBucket> buckets;
  std::vector<StepMark> marks;  ///< one a bucket
};

struct SiteSeriesQuery {
  uint32_t process = 0;
  Layer layer = Layer::Tensor;
  std::optional<std::vector<uint32_t>> sites;
  size_t from = 0;
  size_t to = 100;
  size_t points = 256;
};

constexpr size_t kSeriesColumns = Words<SeriesColumn>::kAll.size();

struct SiteSeries {
  StepAxis axis;
  size_t total = 0;
  bool survivors_at_step_end = true;
  std::vector<SiteSeriesRow> rows;
  /// Row by row.
  std::array<std::vector<double>, kSeriesColumns> columns;
};

struct LedgerSeriesQuery {
  uint32_t process = 0;
  int32_t device = 0;
  size_t points = 256;
};

constexpr size_t kLedgerColumns = Words<LedgerColumn>::kAll.size();

struct LedgerSeries {
  StepAxis axis;
  int32_t device = 0;
  std::array<std::vector<double>, kLedgerColumns> columns;  ///< NaN = not known
};

struct PassQuery {
  uint32_t process = 0;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  uint64_t least_ns = 0;  ///< shorter ranges are left out
};

struct FreeLine {
  uint64_t count;
  uint32_t last_step;
  Stack stack;
};

struct Fragmentation {
  uint64_t segments = 0;
  uint64_t segment_bytes = 0;
  uint64_t partly_used_segments = 0;
  uint64_t empty_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
};

struct PoolRow {
  uint32_t process;
  int32_t device;
  PoolKind kind = PoolKind::Unknown;
  uint32_t makers = 0;
  std::string id = {};
  std::string label = {};
  uint64_t segments = 0;
  uint64_t reserved_bytes = 0;
  uint64_t live_bytes = 0;
  uint32_t site = 0;
  void checkpoint(Archive &a) {
    a(process, device, kind, makers, id, label, segments, reserved_bytes, live_bytes);
    row(a, kSiteRows, site);
  }
};

struct SnapshotSite {
  uint32_t site;
  int64_t live_bytes;
  int64_t live_count;
  uint32_t oldest_step;
  int64_t grown_bytes;
  int64_t activation_bytes;
  double step_allocated_bytes;
  double usual_allocated_bytes;
  void checkpoint(Archive &a) {
    a(live_bytes, live_count, oldest_step, grown_bytes, activation_bytes, step_allocated_bytes, usual_allocated_bytes);
    row(a, kSiteRows, site);
  }
};

/// Memory of one process on one device at one moment.
struct MemorySnapshot {
  uint32_t step;
  int64_t tensor_bytes;
  std::optional<int64_t> reserved_bytes;
  int64_t driver_bytes;
  std::optional<trace::Memory> memory;
  Fragmentation fragmentation;
  std::vector<PoolRow> pools;
  int64_t old_gradient_bytes = 0;
  std::array<CategorySum, kCategories> categories{};
  std::vector<SnapshotSite> sites;
  void checkpoint(Archive &a) {
    a(step, tensor_bytes, reserved_bytes, driver_bytes, memory, fragmentation, pools, old_gradient_bytes, categories,
      sites);
  }
};

}  // namespace gmt::model
