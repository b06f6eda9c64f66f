#pragma once
// One number over time as min / max / last buckets at several widths: rings for the recent past, each 8 times coarser than the
// one before, and one list for the whole run whose width doubles when it is full. At most about 1 MB, however long the run.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "trace/archive.h"

namespace gmt::model {

/// A span of time with at least one change in it, and the values right after the changes.
struct Bucket {
  uint64_t begin_ns;
  int64_t min, max, last;

  void join(const Bucket &later) {
    min = std::min(min, later.min);
    max = std::max(max, later.max);
    last = later.last;
  }
};

class TimelineSeries {
 public:
  void checkpoint(trace::Archive &a) {
    a(open_end_ns_, open_, has_open_, rings_, whole_);
    a.below(whole_shift_, 64);
    a.hold(whole_.size() <= kWhole);
  }
  /// The value is `value` from `time_ns` on. A time before the newest one counts as the newest.
  void set(uint64_t time_ns, int64_t value) {
    if (time_ns >= open_end_ns_) roll(time_ns);
    open_[0].min = std::min(open_[0].min, value);
    open_[0].max = std::max(open_[0].max, value);
    open_[0].last = value;
  }

  struct StoredBucket {
    Bucket bucket;
    uint64_t width_ns;
  };
  /// The buckets that touch [from, to), oldest first, as fine as they are kept but no finer than needed for
  /// output buckets of `width_ns`. `before` gets the value that held before the first of them (0: none).
  std::vector<StoredBucket> gather(uint64_t from_ns, uint64_t to_ns, uint64_t width_ns, int64_t &before) const;

 private:
  static constexpr uint32_t kLevels = 5;
  static constexpr uint32_t kFineShift = 16;  ///< 2^16 ns = 66 us
  static constexpr uint32_t kStep = 3;
  static constexpr size_t kRing = 4096;
  static constexpr size_t kWhole = 8192;

  struct Ring {
    std::vector<Bucket> buckets;
    size_t head = 0;  ///< the oldest, once full
    void push(const Bucket &bucket);
    void checkpoint(trace::Archive &a) {
      a(buckets);
      a.below(head, kRing);
      a.hold(buckets.size() == kRing || (head == 0 && buckets.size() < kRing));
    }
    size_t size() const { return buckets.size(); }
    const Bucket &at(size_t age) const { return buckets[(head + age) % buckets.size()]; }
  };

  static constexpr uint32_t shift_of(uint32_t level) { return kFineShift + kStep * level; }
  void roll(uint64_t time_ns);
  void close(uint32_t level);
  void fold_into_whole(Bucket bucket);
  void coarsen_whole();
  std::vector<Bucket> whole_view() const;
  std::vector<Bucket> ring_view(uint32_t level, uint64_t from_ns) const;
  /// Where the buckets of a stretch of time come from: a ring (`level`), or the list of the whole run (-1). The
  /// stretch ends where the next finer part begins.
  struct Part {
    int level;
    uint32_t shift;
    uint64_t begin_ns;
  };
  std::vector<Part> plan(uint64_t width_ns) const;

  uint64_t open_end_ns_ = 0;
  std::array<Bucket, kLevels> open_{};  ///< the newest bucket of each level, without what the finer ones still hold
  std::array<bool, kLevels> has_open_{};
  std::array<Ring, kLevels> rings_;
  std::vector<Bucket> whole_;
  uint32_t whole_shift_ = kFineShift;
};

}  // namespace gmt::model
