#pragma once
// From (address, device) to the index of a live block: open addressing, linear probing, no tombstones.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

class AddressTable {
 public:
  static constexpr size_t kMissing = ~size_t{0};

  size_t size() const { return used_; }

  /// The place of an entry whose device is `device`, or unknown on one of the two sides; kMissing without one.
  size_t find(uint64_t address, uint8_t device) const {
    if (slots_.empty()) return kMissing;
    size_t loose = kMissing;
    for (size_t at = home(address);; at = (at + 1) & mask_) {
      const Slot &slot = slots_[at];
      if (!slot.taken) return loose;
      if (slot.address != address) continue;
      if (slot.device == device) return at;
      if (slot.device == GMT_DEVICE_NONE || device == GMT_DEVICE_NONE) loose = at;
    }
  }

  uint32_t block_at(size_t place) const { return slots_[place].block; }
  /// As find(): the block there; kNone without one.
  uint32_t block_of(uint64_t address, uint8_t device) const {
    const size_t place = find(address, device);
    return place == kMissing ? kNone : slots_[place].block;
  }

  /// The caller has made sure that the pair is not there yet.
  void insert(uint64_t address, uint8_t device, uint32_t block) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    size_t at = home(address);
    while (slots_[at].taken) at = (at + 1) & mask_;
    slots_[at] = {address, block, device, true};
    ++used_;
  }

  /// Removes the entry and moves its followers up, so that no search is cut short.
  void erase(size_t place) {
    size_t hole = place;
    for (size_t at = (hole + 1) & mask_; slots_[at].taken; at = (at + 1) & mask_) {
      const size_t want = home(slots_[at].address);
      if (((at - want) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].taken = false;
    --used_;
  }

 private:
  struct Slot {
    uint64_t address = 0;
    uint32_t block = 0;
    uint8_t device = 0;
    bool taken = false;
  };
  static_assert(sizeof(Slot) == 16);

  size_t home(uint64_t address) const { return spread(address) >> shift_; }

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    const size_t capacity = old.empty() ? 1024 : old.size() * 2;
    slots_.assign(capacity, Slot{});
    mask_ = capacity - 1;
    shift_ = 64 - std::countr_zero(capacity);
    used_ = 0;
    for (const Slot &slot : old) {
      if (slot.taken) insert(slot.address, slot.device, slot.block);
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  int shift_ = 63;
  size_t used_ = 0;
};

}  // namespace gmt::model
