#include "model/steps/site_steps.h"

namespace gmt::model {

/// What the site's last step came to.
StepPoint SiteSteps::running(uint32_t site) const {
  const SiteSum &sum = sums_[site];
  const SiteHistory &history = histories_[site];
  return {.first = sum.step,
          .last = sum.step,
          .live_count = sum.live_count,
          .live_bytes = sum.live_bytes,
          .min_bytes = sum.step_min,
          .max_bytes = sum.step_max,
          .allocated_bytes = sum.step_allocated,
          .largest_bytes = sum.step_largest,
          .gc_bytes = history.gc_bytes,
          .old_bytes = history.old_bytes,
          .allocations = sum.step_allocations,
          .frees = running_frees(site),
          .young = young(site)};
}

/// Of the step that the site's last event was in, and of the one before: what was allocated and not freed in the two.
YoungBlocks SiteSteps::young(uint32_t site) const {
  const SiteSum &sum = sums_[site];
  const SiteHistory &history = histories_[site];
  const auto left = [](auto born, auto gone) { return gone < born ? born - gone : 0; };
  const uint64_t freed_bytes = static_cast<uint64_t>(history.bytes_before - sum.live_bytes) + sum.step_allocated;
  const StepPoint &newest = history.points.newest();
  const YoungBlocks last = newest.last + 1 == sum.step ? newest.young : YoungBlocks{};
  return {left(sum.step_allocations, running_frees(site) - sum.step_previous_frees - history.old_frees),
          left(last.born_count, sum.step_previous_frees),
          left(sum.step_allocated, freed_bytes - sum.step_previous_bytes - history.old_bytes),
          left(last.born_bytes, sum.step_previous_bytes)};
}

void SiteSteps::begin(uint32_t site, uint32_t step) {
  SiteSum &sum = sums_[site];
  SiteHistory &history = histories_[site];
  if (sum.step != 0) {
    if (sum.step_allocations) history.last_allocation_step = sum.step;
    history.peak_bytes = std::max(history.peak_bytes, sum.step_max);
    history.largest_bytes = std::max(history.largest_bytes, sum.step_largest);
    count_points(history.points.push(running(site), detail_));
  }
  history.begun = true;
  sum = {.live_bytes = sum.live_bytes,
         .step_min = sum.live_bytes,
         .step_max = sum.live_bytes,
         .live_count = sum.live_count,
         .step = step};
  history.oldest_freed = std::max(history.oldest_freed, history.old_age);
  static_cast<SiteStep &>(history) = {.count_before = sum.live_count, .bytes_before = sum.live_bytes};
}

/// Very many sites are kept in less detail each. A site's points are joined by how far its own process's steps have come.
void SiteSteps::count_points(std::ptrdiff_t more) {
  points_ += more;
  if (points_ <= kPoints || detail_ <= kCoarsest) return;
  detail_ /= 2;
  points_ = 0;
  for (SiteHistory &history : histories_) {
    if (history.points.empty()) continue;
    history.points.join(history.points.newest().last, detail_);
    points_ += static_cast<std::ptrdiff_t>(history.points.size());
  }
}

std::vector<StepPoint> SiteSteps::points(uint32_t site, uint32_t count) const {
  std::vector<StepPoint> points = histories_[site].points.all();
  const SiteSum &sum = sums_[site];
  if (sum.step != 0 && sum.step <= count) points.push_back(running(site));
  return points;
}

int64_t SiteSteps::bytes_at_end(uint32_t site, uint32_t count) const {
  const SiteSum &sum = sums_[site];
  if (sum.step <= count) return sum.live_bytes;
  const SiteHistory &history = histories_[site];
  return history.points.empty() ? history.base_bytes : history.points.newest().live_bytes;
}

void SiteSteps::restart(uint32_t site, int64_t live_bytes, uint32_t live_count) {
  histories_[site].peak_bytes = peak_bytes(site);
  SiteSum &sum = sums_[site];
  SiteHistory &history = histories_[site];
  points_ -= static_cast<std::ptrdiff_t>(history.points.size());
  history.points = {};
  sum.live_bytes = history.base_bytes = live_bytes;
  sum.live_count = history.base_count = live_count;
  sum.step = 0;
  history.begun = live_count > 0;
  history.last_allocation_step = 0;
  history.old_age = history.oldest_freed = 0;
  history.largest_bytes = std::max(history.largest_bytes, sum.step_largest);
  sum.step_largest = 0;
}

void SiteSteps::restart_in_first_step(uint32_t site, uint64_t allocations, uint64_t frees, uint64_t allocated_bytes) {
  const int64_t live_bytes = sums_[site].live_bytes;
  const uint32_t live_count = sums_[site].live_count;
  const bool touched = sums_[site].step != 0;
  restart(site, 0, 0);
  SiteSum &sum = sums_[site];
  if (touched) begin(site, 1);
  sum.live_bytes = live_bytes;
  sum.live_count = live_count;
  sum.step_max = histories_[site].peak_bytes;
  sum.step_allocated = allocated_bytes;
  sum.step_largest = histories_[site].largest_bytes;
  sum.step_allocations = static_cast<uint32_t>(allocations);
  histories_[site].count_before = static_cast<uint32_t>(live_count + frees - allocations);
  histories_[site].bytes_before = 0;
}

namespace {

/// One point a bucket; those without an event hold what was before, and begin with step 0.
std::vector<StepPoint> dense(const SiteHistory &history, const std::vector<StepBucket> &axis) {
  std::vector<StepPoint> out(axis.size());
  over_axis(history.points.all(), axis, [&](size_t at, const StepPoint &point) {
    out[at].first == 0 ? void(out[at] = point) : out[at].join(point);
  });
  StepPoint held;
  held.live_bytes = history.base_bytes;
  held.live_count = history.base_count;
  for (size_t at = 0; at < axis.size(); ++at) {
    StepPoint &own = out[at];
    if (own.first != 0) {
      held = own;
    } else {
      own.live_bytes = own.min_bytes = own.max_bytes = held.live_bytes;
      own.live_count = held.live_count;
    }
    own.young = held.young_at(axis[at].last);
  }
  return out;
}

/// The sum of two series; where both move in one bucket, min and max are bounds.
std::vector<StepPoint> sum_of(const SiteHistory &a, const SiteHistory &b, uint32_t count, uint32_t detail) {
  const std::vector<StepBucket> axis = step_axis(count, detail);
  const std::vector<StepPoint> left = dense(a, axis), right = dense(b, axis);
  std::vector<StepPoint> out;
  for (size_t at = 0; at < axis.size(); ++at) {
    if (left[at].first == 0 && right[at].first == 0) continue;
    StepPoint sum = left[at];
    sum.join(right[at]);
    sum.first = axis[at].first;
    sum.last = axis[at].last;
    sum.each = 0;
    sum.live_bytes += left[at].live_bytes;
    sum.live_count += left[at].live_count;
    sum.min_bytes = left[at].min_bytes + right[at].min_bytes;
    sum.max_bytes = left[at].max_bytes + right[at].max_bytes;
    sum.young.add(left[at].young);
    out.push_back(sum);
  }
  return out;
}

}  // namespace

void SiteSteps::merge(uint32_t from, uint32_t into, uint32_t step) {
  if (!histories_[from].begun) return;
  for (const uint32_t site : {from, into}) {
    if (sums_[site].step != step) begin(site, step);
  }
  SiteSum &own = sums_[into], &other = sums_[from];
  SiteHistory &history = histories_[into], &gone = histories_[from];
  history.points.assign(sum_of(history, gone, step - 1, detail_));
  history.base_bytes += gone.base_bytes;
  history.base_count += gone.base_count;
  history.last_allocation_step = std::max(history.last_allocation_step, gone.last_allocation_step);
  history.segments += gone.segments;
  history.gc_bytes += gone.gc_bytes;
  history.count_before += gone.count_before;
  history.bytes_before += gone.bytes_before;
  history.old_frees += gone.old_frees;
  history.old_bytes += gone.old_bytes;
  history.old_age = std::max(history.old_age, gone.old_age);
  history.oldest_freed = std::max(history.oldest_freed, gone.oldest_freed);
  history.largest_bytes = std::max(history.largest_bytes, gone.largest_bytes);
  own.live_bytes += other.live_bytes;
  // The peak of two sites that were counted apart is not known; the larger of what is certain stands for it.
  history.peak_bytes = std::max({peak_bytes(into), peak_bytes(from), own.live_bytes});
  own.live_count += other.live_count;
  own.step_min += other.step_min;
  own.step_max += other.step_max;
  own.step_allocated += other.step_allocated;
  own.step_largest = std::max(own.step_largest, other.step_largest);
  own.step_allocations += other.step_allocations;
  own.step_previous_frees += other.step_previous_frees;
  own.step_previous_bytes += other.step_previous_bytes;
  sums_[from] = {};
  histories_[from] = {};
}

}  // namespace gmt::model
