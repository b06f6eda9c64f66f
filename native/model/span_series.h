#pragma once
// Live bytes of one cell over the whole run, at the ends of at most 64 equal spans. All series of a session share
// one span width, which doubles when the run outgrows it.
#include <array>
#include <cstdint>

namespace gmt::model {

constexpr uint32_t kSpans = 64;
constexpr uint32_t kFirstSpanShift = 26;  ///< the first width is 2^26 ns, about 67 ms

class SpanSeries {
 public:
  /// Writes the value that held until now to every span that ended before `span` (an index at width 2^shift).
  void fill(uint32_t shift, uint64_t span, int64_t value) {
    while (shift_ < shift) halve();
    for (; filled_ < span && filled_ < kSpans; ++filled_) values_[filled_] = static_cast<double>(value);
  }
  /// First moment at which `fill` has something to do.
  uint64_t next_ns() const { return (static_cast<uint64_t>(filled_) + 1) << shift_; }
  uint32_t filled() const { return filled_; }
  double at(uint32_t span) const { return values_[span]; }

 private:
  void halve() {
    for (uint32_t i = 0; 2 * i + 1 < filled_; ++i) values_[i] = values_[2 * i + 1];
    filled_ /= 2;
    ++shift_;
  }

  uint32_t shift_ = kFirstSpanShift;
  uint32_t filled_ = 0;
  std::array<double, kSpans> values_{};
};

}  // namespace gmt::model
