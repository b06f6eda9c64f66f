#pragma once
// Address reservations and maps of one process. Physical handles are blocks; maps point at them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

struct Mapping {
  uint64_t address;
  uint64_t bytes;
  uint64_t handle;
  uint64_t offset;
  uint32_t block;  ///< of the physical handle or the import; kNone where the handle was never seen
  void checkpoint(Archive &a) {
    a(address, bytes, handle, offset);
    row_or_none(a, kBlockRows, block);
  }
};

class VirtualMemory {
 public:
  void checkpoint(Archive &a) { a(maps_, reservations_); }
  void reserve(uint64_t address, uint64_t bytes) { reservations_[address] = bytes; }
  /// Bytes of the reservation that ended, 0 = there was none.
  uint64_t release(uint64_t address);

  /// Adds a map; the ones that it overlaps have ended unseen and are returned.
  std::vector<Mapping> map(const Mapping &mapping);
  /// Ends every map that begins in [address, address + bytes), with bytes 0 the one at `address`.
  std::vector<Mapping> unmap(uint64_t address, uint64_t bytes);

  /// Ends every map of a physical handle that is gone and adds them to `ended`.
  void forget(uint32_t block, std::vector<Mapping> &ended);

  template <typename Visit>
  void each_map(Visit visit) const {
    for (const auto &[address, mapping] : maps_) visit(mapping);
  }

  /// The address is still the program's, but no memory is behind it now: it was unmapped and may be mapped again.
  bool paused(uint64_t address) const;

  uint64_t reserved_bytes() const;
  size_t reservations() const { return reservations_.size(); }
  size_t maps() const { return maps_.size(); }

 private:
  std::map<uint64_t, Mapping> maps_;
  std::map<uint64_t, uint64_t> reservations_;
};

}  // namespace gmt::model
