#pragma once
// A hash map with the layout of PyTorch's ska::flat_hash_map: robin hood hashing, Fibonacci's multiplier.
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace stand_in {

template <class Value>
class PointerMap {
 public:
  PointerMap() : slots_(make(kLeast)) {}
  ~PointerMap() { delete[] slots_; }
  PointerMap(const PointerMap &) = delete;
  PointerMap &operator=(const PointerMap &) = delete;

  void insert(uint64_t key, Value *value) {
    Slot fresh{0, {}, key, value};
    count_++;
    if (last_ == 0 || count_ * 2 > last_ + 1 || !place(&fresh)) rebuild(fresh);
  }

  /// Removes an entry; null: there is none.
  Value *take(uint64_t key) {
    Slot *at = find(key);
    if (!at) return nullptr;
    Value *value = at->value;
    for (; at[1].distance > 0; at++) {
      *at = at[1];
      at->distance--;
    }
    at->distance = -1;
    count_--;
    return value;
  }

 private:
  static constexpr int8_t kLeast = 4;
  struct Slot {
    int8_t distance;
    char padding[7];
    uint64_t key;
    Value *value;
  };

  static Slot *make(size_t count) {
    auto *slots = new Slot[count]();
    for (size_t i = 0; i + 1 < count; i++) slots[i].distance = -1;
    return slots;
  }

  Slot *find(uint64_t key) const {
    int8_t distance = 0;
    for (Slot *at = slots_ + home(key); last_ && at->distance >= distance; at++, distance++)
      if (at->key == key) return at;
    return nullptr;
  }
  size_t home(uint64_t key) const { return key * 11400714819323198485ull >> shift_; }

  /// False: an entry, then in `*fresh`, would be too far from its home.
  bool place(Slot *fresh) {
    for (Slot *at = slots_ + home(fresh->key); fresh->distance < most_; at++, fresh->distance++) {
      if (at->distance < fresh->distance) std::swap(*at, *fresh);
      if (fresh->distance < 0) return true;
    }
    return false;
  }

  void rebuild(const Slot &homeless) {
    std::vector<Slot> all{homeless};
    for (size_t i = 0; last_ && i < last_ + static_cast<size_t>(most_); i++)
      if (slots_[i].distance >= 0) all.push_back(slots_[i]);
    for (bool placed = false; !placed;) {
      const uint64_t slots = last_ ? (last_ + 1) * 2 : kLeast;
      const int log = std::countr_zero(slots);
      Slot *old = slots_;
      most_ = static_cast<int8_t>(log > kLeast ? log : kLeast);
      slots_ = make(slots + static_cast<size_t>(most_));
      last_ = slots - 1;
      shift_ = static_cast<int8_t>(64 - log);
      delete[] old;
      placed = true;
      for (Slot slot : all) {
        slot.distance = 0;
        placed = placed && place(&slot);
      }
    }
  }

  Slot *slots_;
  uint64_t last_ = 0;
  int8_t shift_ = 63;
  int8_t most_ = kLeast - 1;
  float load_ = 0.5f;
  uint64_t count_ = 0;
};

}  // namespace stand_in
