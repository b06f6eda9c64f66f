#pragma once
// What a program says itself that it does when: ranges of NVTX, annotations of memory snapshots.
#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "trace/batch.h"

namespace gmt::model {

struct Range {
  uint64_t begin_ns, end_ns;  ///< end ~0 = it goes on
  uint32_t thread;
  uint32_t key;  ///< gmt_range.key
  std::string name;
  void checkpoint(trace::Archive &a) { a(begin_ns, end_ns, thread, key, name); }
};

class Ranges {
 public:
  /// So many that have ended are kept of each level, the newest; what lies deeper is of the last level.
  static constexpr size_t kLevels = 4, kKept = 1024;
  /// More than this are open only where ends were lost: the oldest are dropped.
  static constexpr size_t kOpen = 256;

  void take(const trace::Range &said) {
    const bool begins = !said.name.empty();
    if (!begins || !(said.key & GMT_RANGE_STARTED)) end(said);  // of what still stood in its place the end was lost
    if (!begins) return;
    if (open_.size() == kOpen) open_.erase(open_.begin());
    open_.push_back({said.time_ns, ~0ull, said.thread, said.key, said.name});
  }
  template <typename Visit>
  void each(Visit visit) const {
    for (const auto &level : kept_) std::ranges::for_each(level, visit);
    std::ranges::for_each(open_, visit);
  }
  void checkpoint(trace::Archive &a) {
    a(kept_, open_);
    for (const auto &level : kept_) a.hold(level.size() <= kKept);
    a.hold(open_.size() <= kOpen);
  }

 private:
  void end(const trace::Range &said) {
    const auto is_own = [&](const Range &one) { return one.thread == said.thread; };
    const auto ends = [&](const Range &one) {
      if ((said.key | one.key) & GMT_RANGE_STARTED) return one.key == said.key;
      return is_own(one) && one.key >= said.key;
    };
    for (size_t at = open_.size(); at-- > 0;) {
      if (!ends(open_[at])) continue;
      const auto level = static_cast<size_t>(std::ranges::count_if(open_.begin(), open_.begin() + at, is_own));
      auto &kept = kept_[std::min(level, kLevels - 1)];
      kept.push_back(std::move(open_[at]));
      kept.back().end_ns = std::max(kept.back().begin_ns, said.time_ns);
      if (kept.size() > kKept) kept.pop_front();
      open_.erase(open_.begin() + at);
    }
  }

  std::array<std::deque<Range>, kLevels> kept_;
  std::vector<Range> open_;  ///< in the order in which they began
};

}  // namespace gmt::model
