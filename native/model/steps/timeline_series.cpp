#include "model/steps/timeline_series.h"

#include <ranges>

namespace gmt::model {
namespace {

uint64_t align(uint64_t time_ns, uint32_t shift) { return time_ns >> shift << shift; }

/// Appends `bucket` at the width of `shift`, or joins it to the last one where both lie in one bucket.
void append(std::vector<Bucket> &list, Bucket bucket, uint32_t shift) {
  bucket.begin_ns = align(bucket.begin_ns, shift);
  if (!list.empty() && list.back().begin_ns == bucket.begin_ns) {
    list.back().join(bucket);
  } else {
    list.push_back(bucket);
  }
}

}  // namespace

void TimelineSeries::Ring::push(const Bucket &bucket) {
  if (buckets.size() < kRing) {
    buckets.push_back(bucket);
    return;
  }
  buckets[head] = bucket;
  head = (head + 1) % kRing;
}

void TimelineSeries::roll(uint64_t time_ns) {
  if (has_open_[0]) {
    fold_into_whole(open_[0]);
    close(0);
  }
  const uint64_t begin = align(time_ns, kFineShift);
  open_[0] = {begin, INT64_MAX, INT64_MIN, 0};
  has_open_[0] = true;
  open_end_ns_ = begin + (1ull << kFineShift);
}

void TimelineSeries::close(uint32_t level) {
  const Bucket done = open_[level];
  rings_[level].push(done);
  has_open_[level] = false;
  const uint32_t next = level + 1;
  if (next == kLevels) return;
  Bucket wider = done;
  wider.begin_ns = align(done.begin_ns, shift_of(next));
  if (has_open_[next] && open_[next].begin_ns == wider.begin_ns) {
    open_[next].join(wider);
    return;
  }
  if (has_open_[next]) close(next);
  open_[next] = wider;
  has_open_[next] = true;
}

void TimelineSeries::fold_into_whole(Bucket bucket) {
  append(whole_, bucket, whole_shift_);
  if (whole_.size() > kWhole) coarsen_whole();
}

void TimelineSeries::coarsen_whole() {
  ++whole_shift_;
  std::vector<Bucket> wider;
  wider.reserve(kWhole + 1);
  for (const Bucket &bucket : whole_) append(wider, bucket, whole_shift_);
  whole_ = std::move(wider);
}

std::vector<Bucket> TimelineSeries::whole_view() const {
  std::vector<Bucket> view = whole_;
  if (has_open_[0]) append(view, open_[0], whole_shift_);
  return view;
}

std::vector<Bucket> TimelineSeries::ring_view(uint32_t level, uint64_t from_ns) const {
  const Ring &ring = rings_[level];
  const auto ages = std::views::iota(size_t{0}, ring.size());
  const auto first = std::ranges::partition_point(ages, [&](size_t age) { return ring.at(age).begin_ns < from_ns; });
  std::vector<Bucket> view;
  for (auto age = first; age != ages.end(); ++age) view.push_back(ring.at(*age));
  for (uint32_t open = level + 1; open-- > 0;) {
    if (has_open_[open] && align(open_[open].begin_ns, shift_of(level)) >= from_ns) {
      append(view, open_[open], shift_of(level));
    }
  }
  return view;
}

std::vector<TimelineSeries::Part> TimelineSeries::plan(uint64_t width_ns) const {
  std::vector<Part> parts;  // finest first
  for (uint32_t level = 0; level < kLevels && shift_of(level) < whole_shift_; ++level) {
    const bool too_fine = (8ull << shift_of(level + 1)) <= width_ns;
    const Ring &ring = rings_[level];
    if (too_fine || ring.size() == 0) continue;
    parts.push_back({static_cast<int>(level), shift_of(level), ring.size() == kRing ? ring.at(0).begin_ns : 0});
    if (parts.back().begin_ns == 0) return parts;
  }
  parts.push_back({-1, whole_shift_, 0});
  // A part begins on a boundary of the next coarser one, so that no change is in two of them.
  for (size_t i = parts.size() - 1; i-- > 0;) {
    const uint64_t step = 1ull << parts[i + 1].shift;
    parts[i].begin_ns = std::max((parts[i].begin_ns + step - 1) / step * step, parts[i + 1].begin_ns);
  }
  return parts;
}

std::vector<TimelineSeries::StoredBucket> TimelineSeries::gather(uint64_t from_ns, uint64_t to_ns, uint64_t width_ns,
                                                                 int64_t &before) const {
  const std::vector<Part> parts = plan(width_ns);
  std::vector<StoredBucket> stored;
  before = 0;
  for (size_t i = parts.size(); i-- > 0;) {
    const Part &part = parts[i];
    const uint64_t until = i == 0 ? UINT64_MAX : parts[i - 1].begin_ns;
    const uint64_t width = 1ull << part.shift;
    const auto level = static_cast<uint32_t>(part.level);
    for (const Bucket &bucket : part.level < 0 ? whole_view() : ring_view(level, part.begin_ns)) {
      if (bucket.begin_ns >= until || bucket.begin_ns >= to_ns) break;
      if (bucket.begin_ns + width <= from_ns) {
        before = bucket.last;
      } else {
        stored.push_back({bucket, width});
      }
    }
  }
  return stored;
}

}  // namespace gmt::model
