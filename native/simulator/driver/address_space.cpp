#include "address_space.h"

#include <sys/mman.h>

namespace sim {

void AddressSpace::open() {
  const uint64_t bytes = 16384 * GIB;
  void *place = mmap(nullptr, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // With a limit on address space (ulimit -v) nothing is reserved; the addresses are then merely unused.
  uint64_t start = place == MAP_FAILED ? 0x7a0000000000 : round_up(reinterpret_cast<uint64_t>(place), PAGE);
  if (place != MAP_FAILED) madvise(place, bytes, MADV_DONTDUMP);
  free_.push({start, bytes});
}

uint64_t AddressSpace::take(uint64_t bytes, uint64_t alignment) {
  for (size_t i = 0; i < free_.size(); ++i) {
    uint64_t address = round_up(free_[i].address, alignment);
    if (address + bytes > free_[i].address + free_[i].bytes) continue;
    carve(i, address, bytes);
    return address;
  }
  return 0;
}

void AddressSpace::carve(size_t index, uint64_t address, uint64_t bytes) {
  Extent whole = free_[index];
  uint64_t before = address - whole.address, after = whole.bytes - before - bytes;
  free_.erase(index);
  if (after) free_.insert(index, {address + bytes, after});
  if (before) free_.insert(index, {whole.address, before});
}

void AddressSpace::give(uint64_t address, uint64_t bytes) {
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

int SmallPages::find_run(const Page &page, unsigned units) {
  unsigned run = 0;
  for (unsigned i = 0; i < UNITS; ++i) {
    uint64_t word = page.taken[i / 64];
    if (i % 64 == 0 && word == ~0ull) {
      run = 0;
      i += 63;
      continue;
    }
    run = word >> (i % 64) & 1 ? 0 : run + 1;
    if (run == units) return static_cast<int>(i + 1 - units);
  }
  return -1;
}

void SmallPages::mark(Page &page, unsigned first, unsigned units, bool taken) {
  for (unsigned i = first; i < first + units; ++i) {
    uint64_t bit = 1ull << (i % 64);
    page.taken[i / 64] = taken ? page.taken[i / 64] | bit : page.taken[i / 64] & ~bit;
  }
  page.used = taken ? page.used + units : page.used - units;
}

uint64_t SmallPages::take(uint64_t bytes) {
  unsigned units = static_cast<unsigned>(bytes / SMALLEST);
  for (size_t i = 0; i < pages_.size(); ++i) {
    Page *page = pages_.at(i);
    if (UNITS - page->used < units) continue;
    int first = find_run(*page, units);
    if (first < 0) continue;
    mark(*page, static_cast<unsigned>(first), units, true);
    return page->address + static_cast<uint64_t>(first) * SMALLEST;
  }
  return 0;
}

void SmallPages::add(uint64_t address) {
  Page *page = static_cast<Page *>(calloc(1, sizeof(Page)));
  page->address = address;
  page->bytes = PAGE;
  pages_.insert(page);
}

uint64_t SmallPages::give(uint64_t address, uint64_t bytes) {
  Page *page = pages_.containing(address);
  mark(*page, static_cast<unsigned>((address - page->address) / SMALLEST), static_cast<unsigned>(bytes / SMALLEST),
       false);
  if (page->used) return 0;
  uint64_t empty = page->address;
  pages_.erase(page);
  free(page);
  return empty;
}

}  // namespace sim
