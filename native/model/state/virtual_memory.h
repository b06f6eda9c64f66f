#pragma once
// Address reservations and maps of one process. Physical handles are blocks; maps point at them.
#include <cstddef>
#include <cstdint>
#include <iterator>
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
  uint64_t release(uint64_t address) {
    const auto found = reservations_.find(address);
    if (found == reservations_.end()) return 0;
    const uint64_t bytes = found->second;
    reservations_.erase(found);
    return bytes;
  }

  /// Adds a map; the ones that it overlaps have ended unseen and are returned.
  std::vector<Mapping> map(const Mapping &mapping) {
    std::vector<Mapping> ended;
    auto before = maps_.upper_bound(mapping.address);
    if (before != maps_.begin()) {
      --before;
      const Mapping &old = before->second;
      if (old.address != mapping.address && old.address + old.bytes > mapping.address) {
        ended.push_back(old);
        maps_.erase(before);
      }
    }
    for (const Mapping &old : unmap(mapping.address, mapping.bytes)) ended.push_back(old);
    maps_[mapping.address] = mapping;
    return ended;
  }
  /// Ends every map that begins in [address, address + bytes), with bytes 0 the one at `address`.
  std::vector<Mapping> unmap(uint64_t address, uint64_t bytes) {
    std::vector<Mapping> ended;
    auto at = maps_.lower_bound(address);
    const uint64_t last = bytes ? address + bytes - 1 : address;
    while (at != maps_.end() && at->first <= last) {
      ended.push_back(at->second);
      at = maps_.erase(at);
    }
    return ended;
  }

  /// Ends every map of a physical handle that is gone and adds them to `ended`.
  void forget(uint32_t block, std::vector<Mapping> &ended) {
    std::erase_if(maps_, [&](const auto &entry) {
      if (entry.second.block != block) return false;
      ended.push_back(entry.second);
      return true;
    });
  }

  template <typename Visit>
  void each_map(Visit visit) const {
    for (const auto &[address, mapping] : maps_) visit(mapping);
  }

  /// The address is still the program's, but no memory is behind it now: it was unmapped and may be mapped again.
  bool paused(uint64_t address) const {
    const auto covers = [address](const auto &all, auto bytes_of) {
      const auto after = all.upper_bound(address);
      return after != all.begin() && address - std::prev(after)->first < bytes_of(std::prev(after)->second);
    };
    return covers(reservations_, [](uint64_t bytes) { return bytes; }) &&
           !covers(maps_, [](const Mapping &mapping) { return mapping.bytes; });
  }

  uint64_t reserved_bytes() const {
    uint64_t sum = 0;
    for (const auto &[address, bytes] : reservations_) sum += bytes;
    return sum;
  }
  size_t reservations() const { return reservations_.size(); }
  size_t maps() const { return maps_.size(); }

 private:
  std::map<uint64_t, Mapping> maps_;
  std::map<uint64_t, uint64_t> reservations_;
};

}  // namespace gmt::model
