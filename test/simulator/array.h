#pragma once
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace sim {

class Guard {
 public:
  explicit Guard(pthread_mutex_t &lock) : lock_(lock) { pthread_mutex_lock(&lock_); }
  ~Guard() { pthread_mutex_unlock(&lock_); }
  Guard(const Guard &) = delete;
  Guard &operator=(const Guard &) = delete;

 private:
  pthread_mutex_t &lock_;
};

/// A growable array of trivially copyable items, so that the simulator needs no libstdc++.
template <class T>
class Array {
 public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  size_t size() const { return size_; }
  T &operator[](size_t index) { return items_[index]; }
  const T &operator[](size_t index) const { return items_[index]; }

  /// First index of an item that is not `below`, of sorted items.
  template <class Below>
  size_t first_not(Below below) const {
    return static_cast<size_t>(std::partition_point(items_, items_ + size_, below) - items_);
  }
  void insert(size_t index, const T &item) {
    reserve(size_ + 1);
    memmove(items_ + index + 1, items_ + index, (size_ - index) * sizeof(T));
    items_[index] = item;
    ++size_;
  }
  /// Gives the storage back. No destructor does: the driver's state must outlive every thread of the process.
  void clear() {
    free(items_);
    items_ = nullptr;
    size_ = capacity_ = 0;
  }
  void push(const T &item) { insert(size_, item); }
  void erase(size_t index) {
    memmove(items_ + index, items_ + index + 1, (size_ - index - 1) * sizeof(T));
    --size_;
  }

 private:
  void reserve(size_t count) {
    if (count <= capacity_) return;
    size_t capacity = capacity_ ? capacity_ * 2 : 16;
    void *grown = realloc(static_cast<void *>(items_), capacity * sizeof(T));
    if (!grown) abort();
    items_ = static_cast<T *>(grown);
    capacity_ = capacity;
  }

  T *items_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

/// Items that start at `address` and are `bytes` long, sorted by address; they never overlap. The table
/// holds pointers: an item stays where it is while it is in the table.
template <class T>
class Table {
 public:
  size_t size() const { return items_.size(); }
  T *at(size_t index) { return items_[index]; }

  /// First index whose address is >= `address`.
  size_t lower_bound(uint64_t address) const {
    return items_.first_not([&](const T *item) { return item->address < address; });
  }
  T *find(uint64_t address) {
    size_t index = lower_bound(address);
    return index < items_.size() && items_[index]->address == address ? items_[index] : nullptr;
  }
  T *containing(uint64_t address) {
    size_t index = lower_bound(address + 1);
    if (index == 0) return nullptr;
    T *item = items_[index - 1];
    return address - item->address < item->bytes ? item : nullptr;
  }
  bool overlaps(uint64_t address, uint64_t bytes) {
    if (containing(address)) return true;
    size_t index = lower_bound(address);
    return index < items_.size() && items_[index]->address < address + bytes;
  }
  void clear() { items_.clear(); }
  void insert(T *item) { items_.insert(lower_bound(item->address), item); }
  /// A new one; `free` gives it back once it is erased.
  void add(const T &item) {
    T *own = static_cast<T *>(calloc(1, sizeof(T)));
    if (!own) abort();
    *own = item;
    insert(own);
  }
  void erase(T *item) { items_.erase(lower_bound(item->address)); }

 private:
  Array<T *> items_;
};

}  // namespace sim
