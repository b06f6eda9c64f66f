#pragma once
// The usual size of many allocations, in two bytes: a median that each size pulls a little.
#include <bit>
#include <cstdint>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

/// log2 of `bytes` (not 0) in 1/256, with straight lines between the powers of two.
constexpr uint16_t log_size(uint64_t bytes) {
  const auto power = static_cast<unsigned>(63 - std::countl_zero(bytes));
  return static_cast<uint16_t>(power << 8 | (bytes << (63 - power) >> 55 & 0xff));
}
constexpr double size_of_log(uint16_t log) {
  return static_cast<double>(256 + (log & 0xff)) / 256 * static_cast<double>(1ull << (log >> 8));
}

/// Where `median` (0: of nothing) goes when it sees `bytes`: at most 1/16 of a factor of two, so that it settles within
/// about 5 % of a size with as many above it as below.
inline uint16_t pull_median(uint16_t median, uint64_t bytes) {
  if (bytes == 0) return median;
  const uint16_t log = log_size(bytes);
  if (median == 0) return log;
  const int distance = log - median;
  return static_cast<uint16_t>(median + (distance > 16 ? 16 : distance < -16 ? -16 : distance));
}

/// The sizes that one thread allocates on one layer.
struct SizeHabit {
  uint64_t allocations = 0;
  uint64_t largest_bytes = 0;
  uint64_t largest_ns = 0;
  uint32_t largest_cell = 0;
  uint16_t median = 0;  ///< of each eighth
  void checkpoint(Archive &a) {
    a(allocations, largest_bytes, largest_ns, median);
    if (largest_bytes) row(a, kCellRows, largest_cell);
  }
};

class SizeHabits {
 public:
  void checkpoint(Archive &a) { a(habits_); }
  void count(uint32_t thread, Layer layer, uint64_t bytes, uint64_t time_ns, uint32_t cell) {
    const size_t at = static_cast<size_t>(thread) * kLayers + static_cast<size_t>(layer);
    if (at >= habits_.size()) [[unlikely]]
      habits_.resize((thread + 1u) * kLayers);
    SizeHabit &own = habits_[at];
    if (own.allocations++ % 8 == 0) own.median = pull_median(own.median, bytes);
    if (bytes > own.largest_bytes) [[unlikely]] {
      own.largest_bytes = bytes;
      own.largest_ns = time_ns;
      own.largest_cell = cell;
    }
  }
  /// By thread, then by layer.
  const std::vector<SizeHabit> &all() const { return habits_; }

 private:
  std::vector<SizeHabit> habits_;
};

}  // namespace gmt::model
