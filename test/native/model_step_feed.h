#pragma once
// Runs of training steps for the model, and what its series say of them.
#include <cmath>
#include <vector>

#include "model_fixture.h"

namespace gmt::test {

using model::LedgerColumn;
using model::LedgerSeries;
using model::SeriesColumn;
using model::SiteSeries;
using Numbers = std::vector<double>;

struct StepFeed : Feed {
  StepFeed() {
    for (uint32_t stack = 1; stack <= 20; ++stack) names.set(stack, {{"train.py", stack, "step"}});
  }
  void allocate(uint64_t address, uint64_t bytes, uint32_t stack = 1) {
    put({GMT_TENSOR_ALLOC, address, bytes, 0, 0, stack});
  }
  void free(uint64_t address, uint16_t thread = 0, uint32_t stack = 0) {
    put({GMT_TENSOR_FREE, address, 0, 0, thread, stack});
  }
  void end_step() { put({GMT_STEP, ++steps_, 0, GMT_DEVICE_NONE}); }
  SiteSeries series(size_t points = 2048) {
    model::SiteSeriesQuery query;
    query.points = points;
    return model.site_series(query);
  }
  LedgerSeries ledger(int32_t device = 0) { return model.ledger_series({0, device, 2048}); }

 private:
  uint64_t steps_ = 0;
};

/// One row's values of a matrix.
inline Numbers row_of(const SiteSeries &series, SeriesColumn column, size_t row = 0) {
  const auto &all = series.columns[static_cast<size_t>(column)];
  const auto width = static_cast<std::ptrdiff_t>(series.axis.buckets.size());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row) * width;
  return {begin, begin + width};
}
inline Numbers column_of(const LedgerSeries &series, LedgerColumn column) {
  return series.columns[static_cast<size_t>(column)];
}

}  // namespace gmt::test
