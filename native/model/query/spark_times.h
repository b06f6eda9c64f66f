#pragma once
// When the spark line of a process is read: at the ends of steps at equal distances, so that what grows by the step is a straight
// line however long its steps take.
#include <array>
#include <optional>

#include "model/state/state.h"

namespace gmt::model {

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
    const double wanted = 1 + (marks.back().step - 1.0) * static_cast<double>(i) / (kSpark - 1);
    for (; at + 1 < marks.size() && marks[at].step < wanted; ++at) {
      step = marks[at].step;
      ns = static_cast<double>(marks[at].end_ns);
    }
    const double part = (wanted - step) / (marks[at].step - step);
    times[i] = ns + (static_cast<double>(marks[at].end_ns) - ns) * part;
  }
  return times;
}

}  // namespace gmt::model
