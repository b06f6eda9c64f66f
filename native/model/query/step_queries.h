#pragma once
// Questions and answers about steps; extension/protocol/trace.ts says what each field means.
#include <array>
#include <cstdint>
#include <optional>
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

constexpr size_t kSeriesColumns = Words<SeriesColumn>::kAll.size();

struct SiteSeries {
  StepAxis axis;
  size_t total = 0;
  std::vector<SiteSeriesRow> rows;
  /// Row by row.
  std::array<std::vector<double>, kSeriesColumns> columns;
};

constexpr size_t kLedgerColumns = Words<LedgerColumn>::kAll.size();

struct LedgerSeries {
  StepAxis axis;
  int32_t device = 0;
  std::array<std::vector<double>, kLedgerColumns> columns;  ///< NaN = not known
};

struct FreeLine {
  uint64_t count;
  uint32_t last_step;
  Stack stack;
};

/// Memory of one process on one device at one moment.
struct MemorySnapshot {
  uint32_t step;
  int64_t tensor_bytes;
  std::optional<int64_t> reserved_bytes;
  int64_t driver_bytes;
  std::optional<trace::Memory> memory;
  int64_t traced_bytes;  ///< of driver_bytes, at the moment of `memory`
  Fragmentation fragmentation;
  std::vector<PoolRow> pools;
  int64_t old_gradient_bytes = 0;
  std::array<CategorySum, kCategories> categories{};
  std::vector<SnapshotSite> sites;
  void checkpoint(Archive &a) {
    a(step, tensor_bytes, reserved_bytes, driver_bytes, memory, traced_bytes, fragmentation, pools, old_gradient_bytes,
      categories, sites);
  }
};

}  // namespace gmt::model
