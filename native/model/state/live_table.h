#pragma once
// Live blocks by address and device: open addressing with the entries in the slots themselves, so that an event touches
// one place in memory. Linear probing, no tombstones.
#include <sys/mman.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "model/state/types.h"

namespace gmt::model {

/// `Entry` has `address`, `device` and `taken`; all zero, it is an empty slot.
template <typename Entry>
class LiveTable {
 public:
  size_t size() const { return used_; }

  /// The entry at `address` whose device is `device`, or unknown on one of the two sides; nullptr without one.
  const Entry *find(uint64_t address, uint8_t device) const {
    return const_cast<LiveTable *>(this)->find(address, device);
  }
  Entry *find(uint64_t address, uint8_t device) {
    if (!slots_) return nullptr;
    Entry *loose = nullptr;
    for (size_t at = home(address);; at = (at + 1) & mask_) {
      Entry &slot = slots_[at];
      if (!slot.taken) return loose;
      if (slot.address != address) continue;
      if (slot.device == device) return &slot;
      if (slot.device == GMT_DEVICE_NONE || device == GMT_DEVICE_NONE) loose = &slot;
    }
  }

  /// The caller has made sure that address and device are not there yet.
  void insert(const Entry &block) {
    if ((used_ + 1) * 2 > capacity()) grow();
    size_t at = home(block.address);
    while (slots_[at].taken) at = (at + 1) & mask_;
    slots_[at] = block;
    slots_[at].taken = true;
    ++used_;
  }

  /// Removes an entry and moves its followers up, so that no search is cut short.
  void erase(const Entry *block) {
    auto hole = static_cast<size_t>(block - slots_.get());
    for (size_t at = (hole + 1) & mask_; slots_[at].taken; at = (at + 1) & mask_) {
      const size_t ideal = home(slots_[at].address);
      if (((at - ideal) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].taken = false;
    --used_;
  }

  void prefetch(uint64_t address) const {
    if (!slots_) return;
    const size_t at = home(address);
    __builtin_prefetch(&slots_[at], 1);
    __builtin_prefetch(&slots_[(at + 1) & mask_], 1);  // often in the next cache line, where many a block stands
  }
  /// The entry at `address` if it stands near its home: for prefetching; nullptr = look further.
  const Entry *guess(uint64_t address) const {
    if (!slots_) return nullptr;
    const size_t first = home(address);
    for (size_t step = 0; step < 3; ++step) {
      const Entry &slot = slots_[(first + step) & mask_];
      if (slot.address == address && slot.taken) return &slot;
    }
    return nullptr;
  }

  /// Every entry stays in its slot: questions see them in the same order.
  void checkpoint(Archive &a) {
    uint64_t slots = a.count(capacity());
    a.hold(slots == 0 || (std::has_single_bit(slots) && slots >= kLeast && slots <= kMost));
    std::vector<uint32_t> places;
    std::vector<Entry> entries;
    for (size_t at = 0; !a.reads() && at < slots; ++at) {
      if (!slots_[at].taken) continue;
      places.push_back(static_cast<uint32_t>(at));
      entries.push_back(slots_[at]);
    }
    a(places, entries);
    a.hold(places.size() == entries.size() && places.size() * 2 <= slots);
    a.hold(std::ranges::adjacent_find(places, std::greater_equal{}) == places.end());
    a.hold(places.empty() || places.back() < slots);
    if (!a.reads() || !a.good()) return;
    slots_ = slots ? make(slots) : nullptr;
    mask_ = slots ? slots - 1 : 0;
    shift_ = slots ? 64 - std::countr_zero(slots) : 63;
    used_ = places.size();
    for (size_t i = 0; i < used_; ++i) {
      slots_[places[i]] = entries[i];
      slots_[places[i]].taken = true;
    }
  }

  template <typename Visit>
  void each(Visit visit) {
    each_of(slots_.get(), visit);
  }
  template <typename Visit>
  void each(Visit visit) const {
    each_of(static_cast<const Entry *>(slots_.get()), visit);
  }

 private:
  struct Release {
    void operator()(Entry *slots) const { std::free(slots); }
  };
  using Slots = std::unique_ptr<Entry[], Release>;
  static constexpr size_t kHugePage = 2u << 20;
  static constexpr size_t kLeast = 1024;
  static constexpr size_t kMost = 1u << 26;  ///< that a checkpoint may need
  static constexpr size_t kChunk = 256;
  static_assert(kLeast % kChunk == 0);

  /// Which slots are taken is close to random: they are picked out without a branch that would be guessed wrong.
  template <typename Slot, typename Visit>
  void each_of(Slot *slots, Visit visit) const {
    size_t taken[kChunk];
    for (size_t from = 0; from < capacity(); from += kChunk) {
      size_t count = 0;
      for (size_t at = from; at < from + kChunk; ++at) {
        taken[count] = at;
        count += slots[at].taken;
      }
      for (size_t i = 0; i < count; ++i) visit(slots[taken[i]]);
    }
  }

  size_t capacity() const { return slots_ ? mask_ + 1 : 0; }
  size_t home(uint64_t address) const { return spread(address) >> shift_; }

  /// Empty slots; big tables lie in huge pages where the system gives them, or every event would miss the TLB.
  static Slots make(size_t count) {
    const size_t bytes = count * sizeof(Entry);
    const bool big = bytes >= kHugePage;
    void *memory = std::aligned_alloc(big ? kHugePage : 64, bytes);
    if (!memory) throw std::bad_alloc();
    if (big) ::madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 0, bytes);
    return Slots(static_cast<Entry *>(memory));
  }

  void grow() {
    const size_t old_capacity = capacity();
    const size_t capacity = old_capacity ? old_capacity * 2 : kLeast;
    const Slots old = std::move(slots_);
    slots_ = make(capacity);
    mask_ = capacity - 1;
    shift_ = 64 - std::countr_zero(capacity);
    used_ = 0;
    for (size_t at = 0; at < old_capacity; ++at) {
      if (old[at].taken) insert(old[at]);
    }
  }

  Slots slots_;
  size_t mask_ = 0;
  int shift_ = 63;
  size_t used_ = 0;
};

}  // namespace gmt::model
