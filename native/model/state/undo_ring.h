#pragma once
// The last frees of one process, so that one that turns out to have failed can be taken back.
#include <cstdint>
#include <utility>
#include <vector>

#include "model/state/virtual_memory.h"

namespace gmt::model {

struct UndoRecord {
  enum What : uint8_t {
    Nothing,    ///< the free matched nothing and was counted as such
    Blocks,     ///< `first` and `more` were closed
    Reference,  ///< a handle lost one reference and lived on
    Maps,       ///< `maps` ended; blocks whose last map it was are in `more`
    Reservation,
  };
  uint64_t address = 0;
  uint64_t bytes = 0;  ///< of a reservation
  uint8_t kind = 0;    ///< of the free; 0 = empty
  uint8_t device = GMT_DEVICE_NONE;
  What what = Nothing;
  bool has_first = false;
  Block first{};
  std::vector<Block> more;
  std::vector<Mapping> maps;
  void checkpoint(Archive &a) { a(address, bytes, kind, device, what, has_first, first, more, maps); }
};
constexpr size_t archive_limit(UndoRecord::What) { return UndoRecord::Reservation + 1; }

class UndoRing {
 public:
  static constexpr size_t kSize = 256;
  void checkpoint(Archive &a) {
    a(records_, pushed_);
    a.below(next_, kSize);
    a.hold(records_.empty() || records_.size() == kSize);
  }

  void push(UndoRecord record) {
    if (records_.empty()) records_.resize(kSize);
    records_[next_] = std::move(record);
    next_ = (next_ + 1) % kSize;
    ++pushed_;
  }
  /// How many there ever were.
  uint64_t pushed() const { return pushed_; }
  /// Takes out the newest free of `address` with `kind`; false where it is not among the last kSize.
  bool take(uint64_t address, uint8_t kind, UndoRecord &out) {
    for (size_t back = 1; back <= records_.size(); ++back) {
      UndoRecord &record = records_[(next_ + kSize - back) % kSize];
      if (record.kind != kind || record.address != address) continue;
      out = std::move(record);
      record = UndoRecord{};
      return true;
    }
    return false;
  }

 private:
  std::vector<UndoRecord> records_;
  size_t next_ = 0;
  uint64_t pushed_ = 0;
};

}  // namespace gmt::model
