#pragma once
// Live bytes of every cell over the whole run, at the ends of at most 64 equal spans. The width of the spans doubles
// when the run outgrows them. A row holds one span of all cells: while a span lasts, only its row is written.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/archive.h"

namespace gmt::model {

class SpanTable {
 public:
  static constexpr uint32_t kSpans = 64;
  static constexpr uint32_t kFirstShift = 26;  ///< the first width is 2^26 ns, about 67 ms

  void checkpoint(trace::Archive &a, size_t cells) {
    a(rows_);
    a.below(shift_, 64);
    for (const std::vector<double> &row : rows_) a.hold(row.size() == cells);
  }
  /// log2 of the width of a span, ns.
  uint32_t shift() const { return shift_; }
  uint32_t span_of(uint64_t time_ns) const { return static_cast<uint32_t>(time_ns >> shift_); }
  bool fits(uint64_t time_ns) const { return time_ns >> shift_ < kSpans; }

  void add_cell() {
    for (std::vector<double> &row : rows_) row.push_back(0);
  }
  /// Doubles the width: of two spans the end of the later one stays.
  void halve() {
    for (uint32_t i = 0; i < kSpans / 2; ++i) rows_[i].swap(rows_[2 * i + 1]);
    ++shift_;
  }
  double at(uint32_t span, uint32_t cell) const { return rows_[span][cell]; }
  void put(uint32_t span, uint32_t cell, int64_t value) { rows_[span][cell] = static_cast<double>(value); }

 private:
  uint32_t shift_ = kFirstShift;
  std::array<std::vector<double>, kSpans> rows_;
};

}  // namespace gmt::model
