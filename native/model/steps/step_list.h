#pragma once
// Points of a series, one per step with a change, oldest first. Points of one bucket of the axis are joined when
// the list has grown for a while, so that adding one costs little.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/steps/step_axis.h"
#include "trace/archive.h"

namespace gmt::model {

/// `Point` has the `step` that it is about (after a join: the last one) and `join(const Point &later)`.
template <typename Point>
class StepList {
 public:
  void checkpoint(trace::Archive &a) { a(points_, limit_); }
  const std::vector<Point> &points() const { return points_; }
  void clear() {
    points_.clear();
    limit_ = kSlack;
  }

  /// `point.step` ended last.
  void push(const Point &point) {
    points_.push_back(point);
    if (points_.size() >= limit_) join(point.step);
  }

 private:
  static constexpr size_t kSlack = 32;

  /// Joins what is of one bucket.
  void join(uint32_t count) {
    size_t kept = 0;
    uint32_t last = 0;  // of the bucket of points_[kept - 1]
    for (const Point &one : points_) {
      const Point point = one;
      if (kept > 0 && point.step <= last) {
        points_[kept - 1].join(point);
      } else {
        last = bucket_of(point.step, count, kFinest).last;
        points_[kept++] = point;
      }
    }
    points_.resize(kept);
    limit_ = kept + kSlack;
  }

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
  uint64_t most_ns;  ///< when that was reached first; 0: when the step began
  void checkpoint(trace::Archive &a) { a(step, last, most, most_ns); }
  void join(const LevelPoint &later) {
    step = later.step;
    last = later.last;
    if (later.most > most) most_ns = later.most_ns;
    most = std::max(most, later.most);
  }
};

class StepLevel {
 public:
  void checkpoint(trace::Archive &a) { a(list_, most_, most_ns_); }
  void record(int64_t value, uint64_t time_ns) {
    if (value > most_) {
      most_ = value;
      most_ns_ = time_ns;
    }
  }
  /// Step `step` is the last of `step` that ended; the level is at `value`.
  void end_step(uint32_t step, int64_t value) {
    const bool idle = !points().empty() && points().back().last == value && most_ <= value;
    if (!idle) list_.push({step, value, std::max(most_, value), most_ns_});
    restart_at(value, 0);
  }
  void restart(int64_t value, uint64_t time_ns = 0) {
    list_.clear();
    restart_at(value, time_ns);
  }
  const std::vector<LevelPoint> &points() const { return list_.points(); }

 private:
  void restart_at(int64_t value, uint64_t time_ns) {
    most_ = value;
    most_ns_ = time_ns;
  }
  StepList<LevelPoint> list_;
  int64_t most_ = 0;
  uint64_t most_ns_ = 0;
};

}  // namespace gmt::model
