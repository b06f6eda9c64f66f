#pragma once
// A caching allocator by the rules of PyTorch's native one (c10/cuda/CUDACachingAllocator): blocks of 512 bytes,
// segments of 2 MiB for small blocks, 20 MiB for those up to 10 MiB, else the size rounded up to 2 MiB.
#include <pthread.h>

#include "simulator/array.h"

namespace sim {

/// cuMemAlloc_v2 and cuMemFree_v2 of one device; 0 = success.
struct SegmentSource {
  int (*take)(int device, uint64_t *address, uint64_t bytes);
  int (*give)(int device, uint64_t address);
};

/// What sim_torch_stats tells, in this order.
struct AllocatorStats {
  uint64_t allocations, frees;
  uint64_t live_bytes;  ///< rounded, as PyTorch's allocated_bytes.current
  uint64_t allocated_bytes, freed_bytes;
  uint64_t segments_allocated, segments_freed;
  uint64_t reserved_bytes;
  uint64_t out_of_memory;
};

class CachingAllocator {
 public:
  void open(int device, SegmentSource source);
  /// @return address, 0 when neither the cache nor the driver has room.
  uint64_t allocate(uint64_t bytes, uint64_t stream);
  /// false: no block of this allocator starts there.
  bool release(uint64_t address);
  /// Bytes of the block that starts at `address`; 0 = none does.
  uint64_t block_bytes(uint64_t address);
  void empty_cache();
  AllocatorStats stats();

 private:
  struct Block {
    uint64_t address, bytes, stream;
    bool small, live;
    Block *before, *after;  ///< neighbours in the segment
  };
  static uint64_t round_bytes(uint64_t bytes);
  static uint64_t segment_bytes(uint64_t bytes);
  static bool worth_splitting(const Block &block, uint64_t bytes);
  Block *best_cached(uint64_t bytes, uint64_t stream, bool small);
  Block *new_segment(uint64_t bytes, uint64_t stream, bool small);
  void cache(Block *block);
  void uncache(Block *block);
  void split(Block *block, uint64_t bytes);
  Block *merge(Block *block, Block *neighbour);
  void release_cached_segments();

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  int device_ = 0;
  SegmentSource source_ = {};
  AllocatorStats stats_ = {};
  Array<Block *> cached_;  ///< free blocks, smallest first, then by address
  Table<Block> live_;
};

}  // namespace sim
