#pragma once
// The axis of steps that all series of a process share.
#include "model/query/step_queries.h"
#include "model/state/state.h"

namespace gmt::model {

/// With at most `points` buckets.
inline StepAxis process_axis(const State &state, const ProcessState &process, size_t points) {
  StepAxis axis{process.number, process.steps.source, process.frame->step - 1, {}, {}};
  axis.buckets = step_axis_of(axis.count, state.accounts.steps().detail(), points);
  axis.marks.resize(axis.buckets.size());
  over_axis(process.steps.marks.points(), axis.buckets, [&](size_t at, const StepMark &mark) {
    axis.marks[at].step == 0 ? void(axis.marks[at] = mark) : axis.marks[at].join(mark);
  });
  if (process.steps.source != StepSource::Time) return axis;
  constexpr uint64_t kSlice = ProcessSteps::kSliceNs;
  const uint64_t begin = process.steps.begin_ns / kSlice * kSlice;
  for (size_t at = 0; at < axis.buckets.size(); ++at) axis.marks[at].end_ns = begin + axis.buckets[at].last * kSlice;
  return axis;
}

}  // namespace gmt::model
