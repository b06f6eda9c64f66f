#pragma once
// What one site did, step by step: runs of steps that were all alike, and, the further back, steps taken together.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/steps/step_axis.h"
#include "trace/archive.h"

namespace gmt::model {

/// What is alive of the step that ended last, and of the one before.
struct YoungBlocks {
  uint32_t born_count = 0;
  uint32_t before_count = 0;
  uint64_t born_bytes = 0;
  uint64_t before_bytes = 0;
  bool operator==(const YoungBlocks &) const = default;
  void add(const YoungBlocks &other) {
    born_count += other.born_count;
    before_count += other.before_count;
    born_bytes += other.born_bytes;
    before_bytes += other.before_bytes;
  }
  void checkpoint(trace::Archive &a) { a(born_count, before_count, born_bytes, before_bytes); }
};

/// The steps [first, last]. Their flows are those of each step where `each`, else of all together; the levels are those
/// at the end, and the least and most within.
struct StepPoint {
  uint32_t first = 0;  ///< 0 = no step
  uint32_t last = 0;
  uint32_t each = 1;
  uint32_t live_count = 0;
  int64_t live_bytes = 0;
  int64_t min_bytes = 0;
  int64_t max_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t largest_bytes = 0;
  uint64_t gc_bytes = 0;   ///< freed while Python's collector ran on that thread
  uint64_t old_bytes = 0;  ///< freed, of blocks that were older than the step before
  uint32_t allocations = 0;
  uint32_t frees = 0;
  YoungBlocks young;  ///< when `last` ended

  static constexpr uint64_t StepPoint::*kFlowBytes[] = {&StepPoint::allocated_bytes, &StepPoint::gc_bytes,
                                                        &StepPoint::old_bytes};
  static constexpr uint32_t StepPoint::*kFlowCounts[] = {&StepPoint::allocations, &StepPoint::frees};

  void checkpoint(trace::Archive &a) {
    a(first, last, each, live_count, live_bytes, min_bytes, max_bytes, allocated_bytes, largest_bytes, gc_bytes,
      old_bytes, allocations, frees, young);
  }
  bool operator==(const StepPoint &) const = default;
  /// `step` is the one behind, and like these.
  bool goes_on(const StepPoint &step) const {
    if (last + 1 != step.first || !each || first == 0) return false;
    StepPoint same = step;
    same.first = first;
    same.last = last;
    return same == *this;
  }
  /// When `step` ended, `last` or a later one without an event.
  YoungBlocks young_at(uint32_t step) const {
    if (step == last) return young;
    if (step == last + 1) return {0, young.born_count, 0, young.born_bytes};
    return {};
  }
  /// Counts its flows `times` over, as those of all its steps.
  StepPoint times(uint32_t times) const {
    StepPoint all = *this;
    all.each = 0;
    for (const auto bytes : kFlowBytes) all.*bytes *= times;
    for (const auto count : kFlowCounts) all.*count *= times;
    return all;
  }
  /// `later` follows; both have flows of all their steps.
  void join(const StepPoint &later) {
    last = later.last;
    young = later.young;
    live_count = later.live_count;
    live_bytes = later.live_bytes;
    min_bytes = std::min(min_bytes, later.min_bytes);
    max_bytes = std::max(max_bytes, later.max_bytes);
    largest_bytes = std::max(largest_bytes, later.largest_bytes);
    for (const auto bytes : kFlowBytes) this->*bytes += later.*bytes;
    for (const auto count : kFlowCounts) this->*count += later.*count;
  }
};

class SitePoints {
 public:
  void checkpoint(trace::Archive &a) {
    a(newest_, older_, limit_);
    uint32_t before = 0;
    const auto follows = [&](const StepPoint &point) {
      a.hold(point.first > before && point.last >= point.first);
      before = point.last;
    };
    std::ranges::for_each(older_, follows);
    if (!empty()) follows(newest_);
  }
  bool empty() const { return newest_.first == 0; }
  const StepPoint &newest() const { return newest_; }
  /// Oldest first.
  std::vector<StepPoint> all() const {
    std::vector<StepPoint> points = older_;
    if (!empty()) points.push_back(newest_);
    return points;
  }
  size_t size() const { return older_.size() + !empty(); }

  /// `step` is one step behind all others. Returns by how many points there are more.
  std::ptrdiff_t push(const StepPoint &step, uint32_t detail) {
    if (newest_.goes_on(step)) {
      newest_.last = step.last;
      return 0;
    }
    const bool was_empty = empty();
    if (!was_empty) older_.push_back(newest_);
    newest_ = step;
    if (was_empty || older_.size() < limit_) return 1;
    return 1 + join(step.last, detail);
  }
  /// Takes together what is of one bucket; returns by how many points there are more (never more than 0).
  std::ptrdiff_t join(uint32_t count, uint32_t detail) {
    const auto whole = [](const StepPoint &point) {
      return point.times(point.each ? point.last - point.first + 1 : 1);
    };
    size_t kept = 0;
    uint32_t end = 0;  // of the bucket that holds all of older_[kept - 1]; 0: there is none
    for (const StepPoint &one : older_) {
      const StepPoint point = one;
      if (point.last <= end) {
        if (older_[kept - 1].each) older_[kept - 1] = whole(older_[kept - 1]);
        older_[kept - 1].join(whole(point));
        continue;
      }
      const StepBucket bucket = bucket_of(point.first, count, detail);
      end = point.last <= bucket.last ? bucket.last : 0;
      older_[kept++] = point;
    }
    const auto gone = static_cast<std::ptrdiff_t>(older_.size() - kept);
    older_.resize(kept);
    limit_ = kept + kSlack;
    return -gone;
  }
  void assign(std::vector<StepPoint> points) {
    newest_ = {};
    if (!points.empty()) {
      newest_ = points.back();
      points.pop_back();
    }
    older_ = std::move(points);
    limit_ = older_.size() + kSlack;
  }

 private:
  static constexpr size_t kSlack = 32;

  StepPoint newest_;
  std::vector<StepPoint> older_;
  size_t limit_ = kSlack;
};

/// Calls `take(bucket's place, point)` with what of each point lies in each bucket; `axis` is no finer than the points.
template <typename Take>
void over_axis(const std::vector<StepPoint> &points, const std::vector<StepBucket> &axis, Take take) {
  size_t at = 0;
  for (const StepPoint &point : points) {
    while (at < axis.size() && axis[at].last < point.first) ++at;
    for (size_t i = at; i < axis.size() && axis[i].first <= point.last; ++i) {
      StepPoint piece = point;
      piece.first = std::max(axis[i].first, point.first);
      piece.last = std::min(axis[i].last, point.last);
      take(i, piece.times(point.each ? piece.last - piece.first + 1 : 1));
      if (!point.each) break;
    }
  }
}

}  // namespace gmt::model
