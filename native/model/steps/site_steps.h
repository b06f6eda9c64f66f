#pragma once
// What each site did in each step. The running step of a site is in one cache line that its events touch anyway; it goes
// to the site's list when the first event of a later step comes, so that a site that rests costs nothing.
#include <algorithm>
#include <vector>

#include "model/state/types.h"
#include "model/steps/site_points.h"

namespace gmt::model {

/// Running numbers of a site, and of the step that its last event was in.
struct alignas(64) SiteSum {
  int64_t live_bytes = 0;
  int64_t step_min = 0;
  int64_t step_max = 0;
  uint64_t step_allocated = 0;
  uint64_t step_previous_bytes = 0;  ///< freed, of blocks of the step before
  uint64_t step_largest = 0;
  uint32_t live_count = 0;
  uint32_t step_allocations = 0;
  uint32_t step_previous_frees = 0;
  uint32_t step = 0;  ///< 0 = no event yet
  void checkpoint(Archive &a) {
    a(live_bytes, step_min, step_max, step_allocated, step_previous_bytes, step_largest, live_count, step_allocations,
      step_previous_frees, step);
  }
};
static_assert(sizeof(SiteSum) == 64);

/// Of the step that SiteSum has.
struct SiteStep {
  uint64_t gc_bytes = 0;
  uint32_t old_frees = 0;  ///< of blocks that were older than the step before
  uint64_t old_bytes = 0;
  uint32_t old_age = 0;       ///< the oldest of them, in steps
  uint32_t count_before = 0;  ///< alive when it began
  int64_t bytes_before = 0;
};

struct alignas(64) SiteHistory : SiteStep {
  SitePoints points;
  uint32_t oldest_freed = 0;  ///< as old_age, of earlier steps
  int64_t peak_bytes = 0;     ///< of earlier steps
  bool begun = false;         ///< an event has come
  uint32_t last_allocation_step = 0;
  uint64_t largest_bytes = 0;  ///< of all allocations of earlier steps
  uint32_t base_count = 0;     ///< alive before the first point
  int64_t base_bytes = 0;
  uint32_t segments = 0;  ///< allocations for a framework's caching allocator
  void checkpoint(Archive &a) {
    a(points, gc_bytes, old_frees, old_bytes, old_age, oldest_freed, count_before, bytes_before, peak_bytes, begun,
      last_allocation_step, largest_bytes, base_count, base_bytes, segments);
  }
};

class SiteSteps {
 public:
  /// Points that all sites together may have before older steps are kept together more.
  static constexpr std::ptrdiff_t kPoints = 1'000'000;

  void checkpoint(Archive &a) {
    a(sums_, histories_, points_);
    a.below(detail_, kFinest + 1);
    a.hold(sums_.size() == a.rows[kSiteRows] && histories_.size() == a.rows[kSiteRows]);
  }
  void add_site() {
    sums_.emplace_back();
    histories_.emplace_back();
  }

  // `step` is the one that runs.
  void allocated(uint32_t site, uint64_t bytes, uint32_t step) {
    restored(site, bytes, step);
    SiteSum &sum = sums_[site];
    sum.step_allocated += bytes;
    ++sum.step_allocations;
    sum.step_largest = std::max(sum.step_largest, bytes);
  }
  void freed(uint32_t site, uint64_t bytes, uint32_t step) {
    SiteSum &sum = touch(site, step);
    sum.live_bytes -= static_cast<int64_t>(bytes);
    --sum.live_count;
    sum.step_min = std::min(sum.step_min, sum.live_bytes);
  }
  /// About the free that was noted last.
  void freed_by_collector(uint32_t site, uint64_t bytes) { histories_[site].gc_bytes += bytes; }
  void freed_previous(uint32_t site, uint64_t bytes) {
    ++sums_[site].step_previous_frees;
    sums_[site].step_previous_bytes += bytes;
  }
  void freed_old(uint32_t site, uint64_t bytes, uint32_t age_steps) {
    SiteHistory &history = histories_[site];
    ++history.old_frees;
    history.old_bytes += bytes;
    history.old_age = std::max(history.old_age, age_steps);
  }
  /// Takes a free of this or an earlier step back.
  void restored(uint32_t site, uint64_t bytes, uint32_t step) {
    SiteSum &sum = touch(site, step);
    sum.live_bytes += static_cast<int64_t>(bytes);
    ++sum.live_count;
    sum.step_max = std::max(sum.step_max, sum.live_bytes);
  }
  void add_segment(uint32_t site) { ++histories_[site].segments; }

  /// `from`'s numbers are part of `into`'s from now on.
  void merge(uint32_t from, uint32_t into, uint32_t step);
  /// The site's series begins anew, with this alive before it.
  void restart(uint32_t site, int64_t live_bytes, uint32_t live_count);
  /// All that the site ever did was in the first step, which runs.
  void restart_in_first_step(uint32_t site, uint64_t allocations, uint64_t frees, uint64_t allocated_bytes);

  const SiteSum &sum(uint32_t site) const { return sums_[site]; }
  const SiteHistory &history(uint32_t site) const { return histories_[site]; }
  /// The site's points of the `count` steps that have ended.
  std::vector<StepPoint> points(uint32_t site, uint32_t count) const;
  /// Its live bytes when the last of `count` steps ended.
  int64_t bytes_at_end(uint32_t site, uint32_t count) const;
  uint32_t detail() const { return detail_; }
  int64_t peak_bytes(uint32_t site) const { return std::max(histories_[site].peak_bytes, sums_[site].step_max); }
  /// Frees of the step that the site's last event was in.
  uint32_t running_frees(uint32_t site) const {
    const SiteSum &sum = sums_[site];
    return histories_[site].count_before + sum.step_allocations - sum.live_count;
  }
  /// The greatest age of a block that was freed in the `count` steps that have ended; 0: none outlived a whole step.
  uint32_t oldest_freed(uint32_t site, uint32_t count) const {
    const SiteHistory &history = histories_[site];
    return sums_[site].step > count ? history.oldest_freed : std::max(history.oldest_freed, history.old_age);
  }

  void prefetch(uint32_t site) const { __builtin_prefetch(&sums_[site], 1); }
  /// Once the former has brought it near: what the first event of a step, or a free of an `old` block, needs besides.
  void prefetch_history(uint32_t site, uint32_t step, bool old) const {
    if (sums_[site].step == step && !old) return;
    const auto *first = reinterpret_cast<const char *>(&histories_[site]);
    for (size_t line = 0; line < sizeof(SiteHistory); line += 64) __builtin_prefetch(first + line, 1);
  }

 private:
  SiteSum &touch(uint32_t site, uint32_t step) {
    SiteSum &sum = sums_[site];
    if (sum.step != step) [[unlikely]]
      begin(site, step);
    return sum;
  }
  void begin(uint32_t site, uint32_t step);
  StepPoint running(uint32_t site) const;
  YoungBlocks young(uint32_t site) const;
  void count_points(std::ptrdiff_t more);

  std::vector<SiteSum> sums_;
  std::vector<SiteHistory> histories_;
  std::ptrdiff_t points_ = 0;
  uint32_t detail_ = kFinest;
};

}  // namespace gmt::model
