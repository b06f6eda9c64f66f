#pragma once
#include <sys/mman.h>

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
  uint64_t take(uint64_t bytes, uint64_t alignment) {
    for (size_t i = 0; i < free_.size(); ++i) {
      const Extent whole = free_[i];
      const uint64_t address = round_up(whole.address, alignment), end = whole.address + whole.bytes;
      if (address + bytes > end) continue;
      free_.erase(i);
      if (address + bytes < end) free_.insert(i, {address + bytes, end - address - bytes});
      if (whole.address < address) free_.insert(i, {whole.address, address - whole.address});
      return address;
    }
    return 0;
  }
  void give(uint64_t address, uint64_t bytes) {
    const size_t low = free_.first_not([&](const Extent &extent) { return extent.address < address; });
    free_.insert(low, {address, bytes});
    if (low + 1 < free_.size() && free_[low].address + free_[low].bytes == free_[low + 1].address) {
      free_[low].bytes += free_[low + 1].bytes;
      free_.erase(low + 1);
    }
    if (low > 0 && free_[low - 1].address + free_[low - 1].bytes == free_[low].address) {
      free_[low - 1].bytes += free_[low].bytes;
      free_.erase(low);
    }
  }
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
struct AddressSpace : FreeSpace {
  void open() {
    const uint64_t bytes = 16384 * GIB;
    void *place = mmap(nullptr, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // With a limit on address space (ulimit -v) nothing is reserved; the addresses are then merely unused.
    uint64_t start = place == MAP_FAILED ? 0x7a0000000000 : round_up(reinterpret_cast<uint64_t>(place), PAGE);
    if (place != MAP_FAILED) madvise(place, bytes, MADV_DONTDUMP);
    give(start, bytes);
  }
};

/// Pages of one device (or pool) that hold allocations smaller than a page.
class SmallPages {
 public:
  /// Place in a page that is there already, 0 = none has room. `bytes` is a multiple of SMALLEST.
  uint64_t take(uint64_t bytes) {
    for (size_t i = 0; i < pages_.size(); ++i) {
      if (uint64_t address = pages_.at(i)->space.take(bytes, SMALLEST)) return address;
    }
    return 0;
  }
  /// Adds an empty page.
  void add(uint64_t address) {
    Page *page = static_cast<Page *>(calloc(1, sizeof(Page)));
    page->address = address;
    page->bytes = PAGE;
    page->space.give(address, PAGE);
    pages_.insert(page);
  }
  /// @return the page's address if it is empty now (it was removed from here), else 0.
  uint64_t give(uint64_t address, uint64_t bytes) {
    Page *page = pages_.containing(address);
    page->space.give(address, bytes);
    if (!page->space.is_free(PAGE)) return 0;
    uint64_t empty = page->address;
    pages_.erase(page);
    page->space.clear();
    free(page);
    return empty;
  }
  void clear() { pages_.clear(); }

 private:
  struct Page {
    uint64_t address, bytes;
    FreeSpace space;
  };
  Table<Page> pages_;
};

}  // namespace sim
