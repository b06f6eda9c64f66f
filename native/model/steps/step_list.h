#pragma once
// Points of a series, one a step with anything to tell, oldest first. Points of one bucket of the axis are joined when
// the list has grown for a while, so that adding one costs little.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/steps/step_axis.h"

namespace gmt::model {

/// `Point` has the `step` that it is about (after a join: the last one) and `join(const Point &later)`.
template <typename Point>
class StepList {
 public:
  const std::vector<Point> &points() const { return points_; }
  bool empty() const { return points_.empty(); }
  void clear() {
    points_.clear();
    limit_ = kSlack;
  }

  /// `count` steps have ended, `point.step` among them. Returns by how many points the list grew.
  std::ptrdiff_t push(const Point &point, uint32_t count, uint32_t detail) {
    points_.push_back(point);
    return points_.size() < limit_ ? 1 : 1 + join(count, detail);
  }
  /// Joins what is of one bucket; returns by how many points the list grew (never more than 0).
  std::ptrdiff_t join(uint32_t count, uint32_t detail) {
    const size_t before = points_.size();
    size_t kept = 0;
    uint32_t last = 0;  // of the bucket of points_[kept - 1]
    for (size_t at = 0; at < before; ++at) {
      const Point point = points_[at];
      if (kept > 0 && point.step <= last) {
        points_[kept - 1].join(point);
      } else {
        last = bucket_of(point.step, count, detail).last;
        points_[kept++] = point;
      }
    }
    points_.resize(kept);
    limit_ = kept + kSlack;
    return static_cast<std::ptrdiff_t>(kept) - static_cast<std::ptrdiff_t>(before);
  }
  void assign(std::vector<Point> points) {
    points_ = std::move(points);
    limit_ = points_.size() + kSlack;
  }

 private:
  static constexpr size_t kSlack = 32;

  std::vector<Point> points_;
  size_t limit_ = kSlack;
};

/// Calls `take(bucket's place, point)` for each point within `axis`, which is no finer than the list.
template <typename Point, typename Take>
void over_axis(const std::vector<Point> &points, const std::vector<StepBucket> &axis, Take take) {
  size_t at = 0;
  for (const Point &point : points) {
    while (at < axis.size() && axis[at].last < point.step) ++at;
    if (at == axis.size()) return;
    take(at, point);
  }
}

/// A level over steps: its value at the end and the highest one.
struct LevelPoint {
  uint32_t step;
  int64_t last;
  int64_t most;
  void join(const LevelPoint &later) {
    step = later.step;
    last = later.last;
    most = std::max(most, later.most);
  }
};

class StepLevel {
 public:
  void see(int64_t value) { most_ = std::max(most_, value); }
  /// Step `step` is the last of `step` that ended; the level is at `value`.
  void end_step(uint32_t step, int64_t value, uint32_t detail) {
    const bool idle = !list_.empty() && list_.points().back().last == value && most_ <= value;
    if (!idle) list_.push({step, value, std::max(most_, value)}, step, detail);
    most_ = value;
  }
  void restart(int64_t value) {
    list_.clear();
    most_ = value;
  }
  const std::vector<LevelPoint> &points() const { return list_.points(); }

 private:
  StepList<LevelPoint> list_;
  int64_t most_ = 0;
};

}  // namespace gmt::model
