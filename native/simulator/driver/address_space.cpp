#include "address_space.h"

#include <sys/mman.h>

namespace sim {

void AddressSpace::open() {
  const uint64_t bytes = 16384 * GIB;
  void *place = mmap(nullptr, bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // With a limit on address space (ulimit -v) nothing is reserved; the addresses are then merely unused.
  uint64_t start = place == MAP_FAILED ? 0x7a0000000000 : round_up(reinterpret_cast<uint64_t>(place), PAGE);
  if (place != MAP_FAILED) madvise(place, bytes, MADV_DONTDUMP);
  space_.give(start, bytes);
}

uint64_t FreeSpace::take(uint64_t bytes, uint64_t alignment) {
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

void FreeSpace::give(uint64_t address, uint64_t bytes) {
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

uint64_t SmallPages::take(uint64_t bytes) {
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (uint64_t address = pages_.at(i)->space.take(bytes, SMALLEST)) return address;
  }
  return 0;
}

void SmallPages::add(uint64_t address) {
  Page *page = static_cast<Page *>(calloc(1, sizeof(Page)));
  page->address = address;
  page->bytes = PAGE;
  page->space.give(address, PAGE);
  pages_.insert(page);
}

uint64_t SmallPages::give(uint64_t address, uint64_t bytes) {
  Page *page = pages_.containing(address);
  page->space.give(address, bytes);
  if (!page->space.is_free(PAGE)) return 0;
  uint64_t empty = page->address;
  pages_.erase(page);
  page->space.clear();
  free(page);
  return empty;
}

}  // namespace sim
