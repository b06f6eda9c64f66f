#pragma once
// Shape of live bytes over time: slope and spark line. Both are linear, so that a group's is the sum of its cells'.
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/state/accounts.h"
#include "model/state/state.h"

namespace gmt::model {

// A spark line has the ends of steps at equal distances: what grows by the step is a straight line however long steps take.
constexpr size_t kSpark = 16;

/// Times of the session, ns, rising; nothing where the process has no two steps that ended, or they are slices of time.
inline std::optional<std::array<double, kSpark>> spark_times(const State &state, uint32_t number) {
  const ProcessState *process = state.process(number);
  if (!process || process->steps.source == StepSource::Time) return std::nullopt;
  const auto &marks = process->steps.marks.points();
  if (marks.empty() || marks.back().step < 2) return std::nullopt;
  std::array<double, kSpark> times{};
  double step = 0, ns = static_cast<double>(process->steps.begin_ns);  // of the mark before
  size_t at = 0;
  for (size_t i = 0; i < kSpark; ++i) {
    const double step_at = 1 + (marks.back().step - 1.0) * static_cast<double>(i) / (kSpark - 1);
    for (; at + 1 < marks.size() && marks[at].step < step_at; ++at) {
      step = marks[at].step;
      ns = static_cast<double>(marks[at].end_ns);
    }
    const double part = (step_at - step) / (marks[at].step - step);
    times[i] = ns + (static_cast<double>(marks[at].end_ns) - ns) * part;
  }
  return times;
}

class Growth {
 public:
  static constexpr uint32_t kRecent = 24;  ///< ends of spans that the slope looks at, besides the present

  explicit Growth(const State &state) : now_(state.now_ns), accounts_(state.accounts), state_(state) {
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

  /// Adds live bytes at the ends of 16 steps of the cell's process at equal distances, the last as it is now; where it has none, at
  /// those of 16 equal spans of the run.
  void add_spark(uint32_t cell, double (&spark)[kSpark]) {
    const auto [found, fresh] = times_.try_emplace(accounts_.cell_infos()[cell].process);
    if (fresh) found->second = spark_times(state_, found->first);
    if (!found->second) return add_by_time(cell, spark);
    for (size_t i = 0; i + 1 < kSpark; ++i) spark[i] += level_at(cell, (*found->second)[i]);
    spark[kSpark - 1] += live_bytes(cell);
  }

  /// The same of all cells of a site, exactly: what is alive when a step ends, not what it needs within one. False: no steps are known.
  bool add_site_spark(uint32_t site, double (&spark)[kSpark]) const {
    const ProcessState *process = state_.process(accounts_.sites()[site].process);
    const uint32_t ended = process ? process->frame->step - 1 : 0;
    if (ended < 2 || process->steps.source == StepSource::Time) return false;
    auto bytes = static_cast<double>(accounts_.steps().history(site).base_bytes);
    const auto points = accounts_.steps().points(site, ended);
    auto next = points.begin();
    for (size_t i = 0; i + 1 < kSpark; ++i) {
      const auto step = static_cast<uint32_t>(1 + (ended - 1) * i / (kSpark - 1));
      for (; next != points.end() && next->last <= step; ++next) bytes = static_cast<double>(next->live_bytes);
      const bool within = next != points.end() && next->first <= step;
      const double part = within ? (step - next->first + 1.0) / (next->last - next->first + 1.0) : 0;
      spark[i] += within ? bytes * (1 - part) + static_cast<double>(next->live_bytes) * part : bytes;
    }
    spark[kSpark - 1] += static_cast<double>(accounts_.steps().sum(site).live_bytes);
    return true;
  }

 private:
  /// Live bytes at a time, ns: on the line between the ends of its span.
  double level_at(uint32_t cell, double time) const {
    const double width = static_cast<double>(1ull << accounts_.spans().shift());
    const auto span = static_cast<uint32_t>(time / width);
    const bool ended = span < ended_spans();
    const double after = ended ? accounts_.level(span, cell) : live_bytes(cell);
    if (span == 0) return after;
    const double begin = span * width, end = ended ? begin + width : static_cast<double>(now_);
    const double part = end > begin ? std::min(1.0, (time - begin) / (end - begin)) : 1;
    return accounts_.level(span - 1, cell) * (1 - part) + after * part;
  }

  void add_by_time(uint32_t cell, double (&spark)[kSpark]) const {
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

  double live_bytes(uint32_t cell) const { return static_cast<double>(accounts_.cells()[cell].live_bytes); }
  static double seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

  uint64_t now_;
  const Accounts &accounts_;
  const State &state_;
  uint32_t first_ = 0;
  std::vector<double> weights_;
  std::unordered_map<uint32_t, std::optional<std::array<double, kSpark>>> times_;  ///< by process
};

}  // namespace gmt::model
