#pragma once
// A caching allocator by the rules of PyTorch's native one (c10/cuda/CUDACachingAllocator): blocks of 512 bytes,
// segments of 2 MiB for small blocks, 20 MiB for those up to 10 MiB, else the size rounded up to 2 MiB.
#include "simulator/allocator/c10.h"
#include "simulator/array.h"
#include "simulator/driver/address_space.h"

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
  void open(int device, SegmentSource source) {
    device_ = device;
    source_ = source;
  }
  /// @return address, 0 when neither the cache nor the driver has room.
  uint64_t allocate(uint64_t wanted, uint64_t stream) {
    if (wanted == 0 || wanted > 1ull << 50) return 0;
    Guard guard(lock_);
    uint64_t bytes = round_bytes(wanted);
    bool small = bytes <= SMALL;
    Block *block = best_cached(bytes, stream, small);
    if (!block) block = new_segment(bytes, stream, small);
    if (!block) {
      release_cached_segments();
      block = new_segment(bytes, stream, small);
    }
    if (!block) {
      ++stats_.out_of_memory;
      c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(bytes), stats_.live_bytes, stats_.reserved_bytes,
                                       cuda(device_));
      return 0;
    }
    if (worth_splitting(*block, bytes)) split(block, bytes);
    block->live = true;
    live_.insert(block);
    ++stats_.allocations;
    stats_.allocated_bytes += block->bytes;
    stats_.live_bytes += block->bytes;
    uint64_t address = block->address;
    c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(address), static_cast<int64_t>(block->bytes),
                                     stats_.live_bytes, stats_.reserved_bytes, cuda(device_));
    return address;
  }
  /// false: no block of this allocator starts there.
  bool release(uint64_t address) {
    Guard guard(lock_);
    Block *block = live_.find(address);
    if (!block) return false;
    int64_t bytes = static_cast<int64_t>(block->bytes);
    live_.erase(block);
    block->live = false;
    ++stats_.frees;
    stats_.freed_bytes += block->bytes;
    stats_.live_bytes -= block->bytes;
    block = merge(block, block->before);
    block = merge(block, block->after);
    cache(block);
    c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(address), -bytes, stats_.live_bytes,
                                     stats_.reserved_bytes, cuda(device_));
    return true;
  }
  /// Bytes of the block that starts at `address`; 0 = none does.
  uint64_t block_bytes(uint64_t address) {
    Guard guard(lock_);
    Block *block = live_.find(address);
    return block ? block->bytes : 0;
  }
  void empty_cache() {
    Guard guard(lock_);
    release_cached_segments();
  }
  AllocatorStats stats() {
    Guard guard(lock_);
    return stats_;
  }

 private:
  static constexpr uint64_t SMALL = MIB, SMALL_SEGMENT = 2 * MIB, MIDDLE = 10 * MIB, MIDDLE_SEGMENT = 20 * MIB;
  static c10::Device cuda(int device) { return {c10::DeviceType::CUDA, static_cast<int8_t>(device)}; }

  struct Block {
    uint64_t address, bytes, stream;
    bool small, live;
    Block *before, *after;  ///< neighbours in the segment
  };
  static uint64_t round_bytes(uint64_t bytes) { return bytes < 512 ? 512 : round_up(bytes, 512); }
  static uint64_t segment_bytes(uint64_t bytes) {
    if (bytes <= SMALL) return SMALL_SEGMENT;
    return bytes < MIDDLE ? MIDDLE_SEGMENT : round_up(bytes, 2 * MIB);
  }
  static bool worth_splitting(const Block &block, uint64_t bytes) {
    uint64_t rest = block.bytes - bytes;
    return block.small ? rest >= 512 : rest > SMALL;
  }
  Block *best_cached(uint64_t bytes, uint64_t stream, bool small) {
    for (size_t i = 0; i < cached_.size(); ++i) {
      Block *block = cached_[i];
      if (block->bytes < bytes || block->stream != stream || block->small != small) continue;
      cached_.erase(i);
      return block;
    }
    return nullptr;
  }
  Block *new_segment(uint64_t bytes, uint64_t stream, bool small) {
    uint64_t address = 0, whole = segment_bytes(bytes);
    if (source_.take(device_, &address, whole) != 0) return nullptr;
    Block *block = static_cast<Block *>(calloc(1, sizeof(Block)));
    *block = {address, whole, stream, small, false, nullptr, nullptr};
    ++stats_.segments_allocated;
    stats_.reserved_bytes += whole;
    return block;
  }
  void cache(Block *block) {
    const auto below = [&](const Block *other) {
      return other->bytes != block->bytes ? other->bytes < block->bytes : other->address < block->address;
    };
    cached_.insert(cached_.first_not(below), block);
  }
  void uncache(Block *block) {
    for (size_t i = 0; i < cached_.size(); ++i) {
      if (cached_[i] == block) return cached_.erase(i);
    }
  }
  void split(Block *block, uint64_t bytes) {
    Block *rest = static_cast<Block *>(calloc(1, sizeof(Block)));
    *rest = {block->address + bytes, block->bytes - bytes, block->stream, block->small, false, block, block->after};
    if (rest->after) rest->after->before = rest;
    block->after = rest;
    block->bytes = bytes;
    cache(rest);
  }
  Block *merge(Block *block, Block *neighbour) {
    if (!neighbour || neighbour->live) return block;
    uncache(neighbour);
    Block *first = neighbour->address < block->address ? neighbour : block;
    Block *second = first == block ? neighbour : block;
    first->bytes += second->bytes;
    first->after = second->after;
    if (first->after) first->after->before = first;
    free(second);
    return first;
  }
  void release_cached_segments() {
    for (size_t i = cached_.size(); i-- > 0;) {
      Block *block = cached_[i];
      if (block->before || block->after) continue;  // part of a segment that is still in use
      if (source_.give(device_, block->address) != 0) continue;
      cached_.erase(i);
      ++stats_.segments_freed;
      stats_.reserved_bytes -= block->bytes;
      free(block);
    }
  }

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  int device_ = 0;
  SegmentSource source_ = {};
  AllocatorStats stats_ = {};
  Array<Block *> cached_;  ///< free blocks, smallest first, then by address
  Table<Block> live_;
};

}  // namespace sim
