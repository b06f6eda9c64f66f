#pragma once
// A card for the allocator's rules.
#include "model/allocator/torch_allocator.h"

namespace gmt::test {

constexpr uint64_t kMiB = 1ull << 20;
constexpr uint64_t kApart = 1ull << 40;  ///< between segments: none lies beside another

/// Segments from the driver, the first at 1 × kApart.
struct Card : model::CachingAllocator {
  uint64_t segments_taken = 0;
  explicit Card(const model::AllocatorSettings &settings = {})
      : model::CachingAllocator(settings, [this](uint64_t) { return ++segments_taken * kApart; }) {}

  uint64_t take(uint64_t bytes, Pool pool = 0) {
    const auto got = allocate(pool, bytes);
    return got ? got->address : 0;
  }
  /// What the block takes.
  uint64_t taken(uint64_t bytes) {
    const auto got = allocate(0, bytes);
    return got ? got->bytes : 0;
  }
};

}  // namespace gmt::test
