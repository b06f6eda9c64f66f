#pragma once
// Expandable segments: address ranges that are mapped and unmapped in parts. Cut at every border that a snapshot names, so that
// a piece is always mapped as a whole or not at all.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace gmt::trace {

/// Of one device.
class SegmentPieces {
 public:
  struct Piece {
    uint64_t address;
    uint64_t bytes;
    bool known;  ///< its state is known from here on
    bool mapped;
    bool before;  ///< was mapped when the history began
  };
  struct Range {
    size_t first, end;
  };

  void add_border(uint64_t address) { borders_.push_back(address); }
  /// No more borders.
  void cut() {
    std::sort(borders_.begin(), borders_.end());
    borders_.erase(std::unique(borders_.begin(), borders_.end()), borders_.end());
    for (size_t i = 0; i + 1 < borders_.size(); ++i) {
      pieces_.push_back({borders_[i], borders_[i + 1] - borders_[i], false, false, false});
    }
  }
  Range range(uint64_t address, uint64_t bytes) const { return {place(address), place(address + bytes)}; }
  Piece &operator[](size_t place) { return pieces_[place]; }
  size_t size() const { return pieces_.size(); }

 private:
  size_t place(uint64_t address) const {
    return static_cast<size_t>(std::lower_bound(borders_.begin(), borders_.end(), address) - borders_.begin());
  }

  std::vector<uint64_t> borders_;
  std::vector<Piece> pieces_;
};

}  // namespace gmt::trace
