#pragma once
// Numbers for pointers: an open hash table in memory of its own, which is freed at once.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <utility>

namespace gmt::inject {

/// An array in mapped memory that grows; `T` is plain data.
template <class T>
class MappedArray {
 public:
  MappedArray() = default;
  MappedArray(const MappedArray &) = delete;
  MappedArray &operator=(const MappedArray &) = delete;
  ~MappedArray() { release(); }

  /// False: no memory.
  bool push(const T &value) {
    if (size_ == capacity_ && !grow()) return false;
    items_[size_++] = value;
    return true;
  }
  /// Room for `count` items, all zero. False: no memory.
  bool reset(size_t count) {
    release();
    items_ = map(count);
    capacity_ = items_ ? count : 0;
    return items_ != nullptr;
  }
  T &operator[](size_t place) { return items_[place]; }
  const T &operator[](size_t place) const { return items_[place]; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  void release() {
    if (items_) munmap(static_cast<void *>(items_), capacity_ * sizeof(T));
    items_ = nullptr;
    size_ = capacity_ = 0;
  }
  void swap(MappedArray &other) {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static T *map(size_t count) {
    void *at = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : static_cast<T *>(at);
  }
  bool grow() {
    MappedArray bigger;
    if (!bigger.reset(capacity_ ? capacity_ * 2 : 4096)) return false;
    if (size_) memcpy(static_cast<void *>(bigger.items_), items_, size_ * sizeof(T));
    bigger.size_ = size_;
    swap(bigger);
    return true;
  }

  T *items_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

/// Pointer -> number.
class ObjectTable {
 public:
  static constexpr uint32_t kAbsent = ~0u;

  /// Asks for the place of an object that is about to be looked up.
  void prefetch(const void *object) const {
    if (slots_.capacity()) __builtin_prefetch(&slots_[place(object)]);
  }

  uint32_t find(const void *object) const {
    if (slots_.capacity() == 0) return kAbsent;
    for (size_t at = place(object);; at = (at + 1) & (slots_.capacity() - 1)) {
      if (slots_[at].object == object) return slots_[at].number;
      if (!slots_[at].object) return kAbsent;
    }
  }

  /// Enters an object that is not there yet. False: no memory.
  bool add(const void *object, uint32_t number) {
    if ((count_ + 1) * 2 > slots_.capacity() && !grow()) return false;
    insert(object, number);
    count_++;
    return true;
  }

 private:
  struct Slot {
    const void *object;
    uint32_t number;
  };

  size_t place(const void *object) const {
    const uint64_t mixed = (reinterpret_cast<uintptr_t>(object) >> 4) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(mixed >> 32) & (slots_.capacity() - 1);
  }
  void insert(const void *object, uint32_t number) {
    size_t at = place(object);
    while (slots_[at].object) at = (at + 1) & (slots_.capacity() - 1);
    slots_[at] = {object, number};
  }
  bool grow() {
    MappedArray<Slot> old;
    old.swap(slots_);
    if (!slots_.reset(old.capacity() ? old.capacity() * 2 : 4096)) {
      slots_.swap(old);
      return false;
    }
    for (size_t i = 0; i < old.capacity(); i++)
      if (old[i].object) insert(old[i].object, old[i].number);
    return true;
  }

  MappedArray<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace gmt::inject
