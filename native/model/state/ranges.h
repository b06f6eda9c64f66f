#pragma once
// User annotations with their times: NVTX ranges, annotations of memory snapshots.
#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "trace/batch.h"

namespace gmt::model {

struct Range {
  uint64_t begin_ns, end_ns;  ///< end ~0 = it continues
  uint32_t thread;
  uint32_t key;  ///< gmt_range.key
  std::string name;
  void checkpoint(trace::Archive &a) { a(begin_ns, end_ns, thread, key, name); }
};

class Ranges {
 public:
  /// So many that have ended are kept of each level, the newest; what lies deeper is of the last level.
  static constexpr size_t kLevels = 4, kEnded = 1024;
  /// More than this are open only where ends were lost: the oldest are dropped.
  static constexpr size_t kOpen = 256;

  void add(const trace::Range &record) {
    const bool begins = !record.name.empty();
    if (!begins || !(record.key & GMT_RANGE_STARTED)) end(record);  // of what still stood in its place the end was lost
    if (!begins) return;
    if (open_.size() == kOpen) open_.erase(open_.begin());
    open_.push_back({record.time_ns, ~0ull, record.thread, record.key, record.name});
  }
  template <typename Visit>
  void each(Visit visit) const {
    for (const auto &level : ended_) std::ranges::for_each(level, visit);
    std::ranges::for_each(open_, visit);
  }
  void checkpoint(trace::Archive &a) {
    a(ended_, open_);
    for (const auto &level : ended_) a.hold(level.size() <= kEnded);
    a.hold(open_.size() <= kOpen);
  }

 private:
  void end(const trace::Range &record) {
    const auto is_own = [&](const Range &one) { return one.thread == record.thread; };
    const auto ends = [&](const Range &one) {
      if ((record.key | one.key) & GMT_RANGE_STARTED) return one.key == record.key;
      return is_own(one) && one.key >= record.key;
    };
    for (size_t at = open_.size(); at-- > 0;) {
      if (!ends(open_[at])) continue;
      const auto level = static_cast<size_t>(std::ranges::count_if(open_.begin(), open_.begin() + at, is_own));
      auto &ended = ended_[std::min(level, kLevels - 1)];
      ended.push_back(std::move(open_[at]));
      ended.back().end_ns = std::max(ended.back().begin_ns, record.time_ns);
      if (ended.size() > kEnded) ended.pop_front();
      open_.erase(open_.begin() + at);
    }
  }

  std::array<std::deque<Range>, kLevels> ended_;
  std::vector<Range> open_;  ///< in the order in which they began
};

}  // namespace gmt::model
