#include "model/steps/site_points.h"

#include <utility>

namespace gmt::model {

StepPoint StepPoint::times(uint32_t times) const {
  StepPoint all = *this;
  all.each = 0;
  all.allocated_bytes *= times;
  all.gc_bytes *= times;
  all.old_bytes *= times;
  all.allocations *= times;
  all.frees *= times;
  all.gc_frees *= times;
  all.old_frees *= times;
  return all;
}

void StepPoint::join(const StepPoint &later) {
  last = later.last;
  young = later.young;
  live_count = later.live_count;
  live_bytes = later.live_bytes;
  min_bytes = std::min(min_bytes, later.min_bytes);
  max_bytes = std::max(max_bytes, later.max_bytes);
  allocated_bytes += later.allocated_bytes;
  largest_bytes = std::max(largest_bytes, later.largest_bytes);
  gc_bytes += later.gc_bytes;
  old_bytes += later.old_bytes;
  allocations += later.allocations;
  frees += later.frees;
  gc_frees += later.gc_frees;
  old_frees += later.old_frees;
}

void SitePoints::checkpoint(trace::Archive &a) {
  a(newest_, older_, limit_);
  uint32_t before = 0;
  const auto follows = [&](const StepPoint &point) {
    a.hold(point.first > before && point.last >= point.first);
    before = point.last;
  };
  std::ranges::for_each(older_, follows);
  if (!empty()) follows(newest_);
}

std::vector<StepPoint> SitePoints::all() const {
  std::vector<StepPoint> points = older_;
  if (!empty()) points.push_back(newest_);
  return points;
}

std::ptrdiff_t SitePoints::join(uint32_t count, uint32_t detail) {
  const auto whole = [](const StepPoint &point) { return point.times(point.each ? point.last - point.first + 1 : 1); };
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

void SitePoints::assign(std::vector<StepPoint> points) {
  newest_ = {};
  if (!points.empty()) {
    newest_ = points.back();
    points.pop_back();
  }
  older_ = std::move(points);
  limit_ = older_.size() + kSlack;
}

}  // namespace gmt::model
