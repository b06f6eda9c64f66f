#pragma once
#include "simulator/array.h"

namespace sim {

constexpr uint64_t KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB;
constexpr uint64_t PAGE = 2 * MIB;  ///< granularity of device memory
constexpr uint64_t SMALLEST = 512;  ///< alignment and granularity of what is smaller than a page

inline uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Hands out addresses: the lowest free place that fits, so freed addresses come back soon. What is adjacent and free is one.
class FreeSpace {
 public:
  /// @return address, 0 when there is no room. `bytes` and `alignment` are multiples of the smallest piece.
  uint64_t take(uint64_t bytes, uint64_t alignment);
  void give(uint64_t address, uint64_t bytes);
  /// Whether these bytes are one free place.
  bool is_free(uint64_t bytes) const { return free_.size() == 1 && free_[0].bytes == bytes; }
  void clear() { free_.clear(); }

 private:
  struct Extent {
    uint64_t address, bytes;
  };
  Array<Extent> free_;
};

/// Hands out device addresses, never memory. The range is reserved from the kernel without access rights: a program that
/// dereferences a device pointer on the host crashes, as with a real GPU, and no host mapping can have the same address.
class AddressSpace {
 public:
  void open();
  /// @return address, 0 when the space is full. `bytes` and `alignment` are multiples of PAGE.
  uint64_t take(uint64_t bytes, uint64_t alignment = PAGE) { return space_.take(bytes, alignment); }
  void give(uint64_t address, uint64_t bytes) { space_.give(address, bytes); }

 private:
  FreeSpace space_;
};

/// Pages of one device (or pool) that hold allocations smaller than a page.
class SmallPages {
 public:
  /// Place in a page that is there already, 0 = none has room. `bytes` is a multiple of SMALLEST.
  uint64_t take(uint64_t bytes);
  /// Adds an empty page.
  void add(uint64_t page);
  /// @return the page's address if it is empty now (it was removed from here), else 0.
  uint64_t give(uint64_t address, uint64_t bytes);
  void clear() { pages_.clear(); }

 private:
  struct Page {
    uint64_t address, bytes;
    FreeSpace space;
  };
  Table<Page> pages_;
};

}  // namespace sim
