#pragma once
// Which steps are kept apart and which together. Steps are numbered from 1; a bucket holds 2^n steps and begins behind a
// multiple of 2^n. The newest steps have a bucket each, older ones share wider and wider buckets: about `detail` buckets
// a width, so that a run of any length has few. Buckets only ever grow together: what is in one stays in one.
#include <cstdint>
#include <vector>

namespace gmt::model {

struct StepBucket {
  uint32_t first;
  uint32_t last;
  bool operator==(const StepBucket &) const = default;
};

/// Buckets a width while there is room for the points of all sites.
constexpr uint32_t kFinest = 64;
constexpr uint32_t kCoarsest = 8;

/// The bucket of `step` when `count` steps have ended, `step` <= `count`.
inline StepBucket bucket_of(uint32_t step, uint32_t count, uint32_t detail) {
  const uint32_t index = step - 1;
  uint64_t width = 1;
  while (true) {
    const uint64_t wider = width * 2;
    if ((index / wider + 1) * wider + detail * wider > count) break;
    width = wider;
  }
  const auto begin = static_cast<uint32_t>(index / width * width);
  return {begin + 1, begin + static_cast<uint32_t>(width)};
}

/// All buckets of `count` ended steps, oldest first.
inline std::vector<StepBucket> step_axis(uint32_t count, uint32_t detail) {
  std::vector<StepBucket> axis;
  for (uint32_t step = 1; step <= count;) {
    axis.push_back(bucket_of(step, count, detail));
    step = axis.back().last + 1;
    if (step == 0) break;
  }
  return axis;
}

/// The finest axis of at most `detail` that has at most `points` buckets (with detail 0 there are about log2 of count).
inline std::vector<StepBucket> step_axis_of(uint32_t count, uint32_t detail, size_t points) {
  std::vector<StepBucket> axis = step_axis(count, detail);
  while (axis.size() > points && detail > 0) axis = step_axis(count, detail /= 2);
  return axis;
}

}  // namespace gmt::model
