#pragma once
// Shape of live bytes over time, from the series of a cell: slope and spark line. Both are linear, so that a group's
// is the sum of its cells'.
#include <array>
#include <cstdint>
#include <vector>

#include "model/query/queries.h"
#include "model/state/accounts.h"

namespace gmt::model {

class Growth {
 public:
  static constexpr uint32_t kRecent = 24;  ///< ends of spans that the slope looks at, besides the present

  Growth(uint64_t now_ns, const Accounts &accounts) : now_(now_ns), accounts_(accounts) {
    const uint32_t filled = ended_spans();
    const uint32_t points = std::min(filled, kRecent);
    first_ = filled - points;
    if (points < 2) return;
    std::vector<double> x;
    for (uint32_t span = first_; span < filled; ++span)
      x.push_back(seconds((span + 1ull) << accounts_.spans().shift()));
    x.push_back(seconds(now_));
    double mean = 0, spread = 0;
    for (const double at : x) mean += at / static_cast<double>(x.size());
    for (const double at : x) spread += (at - mean) * (at - mean);
    for (const double at : x) weights_.push_back((at - mean) / spread);
  }

  /// Spans of the run that have ended.
  uint32_t ended_spans() const { return accounts_.spans().span_of(now_); }

  /// Least-squares slope over the recent past, bytes a second; 0 while the run is too short for one.
  double slope(uint32_t cell) const {
    if (weights_.empty()) return 0;
    double sum = weights_.back() * live_bytes(cell);
    for (size_t i = 0; i + 1 < weights_.size(); ++i) {
      sum += weights_[i] * accounts_.level(first_ + static_cast<uint32_t>(i), cell);
    }
    return sum;
  }

  /// Adds live bytes at the ends of 16 equal spans of the run.
  template <size_t kSpark>
  void add_spark(uint32_t cell, double (&spark)[kSpark]) const {
    const double width = static_cast<double>(1ull << accounts_.spans().shift());
    for (size_t i = 0; i < kSpark; ++i) {
      const double time = static_cast<double>(now_) * static_cast<double>(i + 1) / kSpark;
      const auto ends = static_cast<uint32_t>(time / width + 0.5);
      if (i + 1 == kSpark || ends > ended_spans()) {
        spark[i] += live_bytes(cell);
      } else if (ends > 0) {
        spark[i] += accounts_.level(ends - 1, cell);
      }
    }
  }

 private:
  double live_bytes(uint32_t cell) const { return static_cast<double>(accounts_.cells()[cell].live_bytes); }
  static double seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

  uint64_t now_;
  const Accounts &accounts_;
  uint32_t first_ = 0;
  std::vector<double> weights_;
};

}  // namespace gmt::model
