#pragma once
#include "simulator/array.h"

namespace sim {

constexpr uint64_t KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB;
constexpr uint64_t PAGE = 2 * MIB;  ///< granularity of device memory
constexpr uint64_t SMALLEST = 512;  ///< alignment and granularity of what is smaller than a page

inline uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Hands out device addresses, never memory: the lowest free place that fits, so freed addresses come back
/// soon. The range is reserved from the kernel without access rights: a program that dereferences a device
/// pointer on the host crashes, as with a real GPU, and no host mapping can have the same address.
class AddressSpace {
 public:
  void open();
  /// @return address, 0 when the space is full. `bytes` and `alignment` are multiples of PAGE.
  uint64_t take(uint64_t bytes, uint64_t alignment = PAGE);
  void give(uint64_t address, uint64_t bytes);

 private:
  struct Extent {
    uint64_t address, bytes;
  };
  void carve(size_t index, uint64_t address, uint64_t bytes);
  Array<Extent> free_;
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
  static constexpr unsigned UNITS = PAGE / SMALLEST;
  struct Page {
    uint64_t address, bytes;
    unsigned used;
    uint64_t taken[UNITS / 64];
  };
  static int find_run(const Page &page, unsigned units);
  static void mark(Page &page, unsigned first, unsigned units, bool taken);
  Table<Page> pages_;
};

}  // namespace sim
