#include "caching_allocator.h"

#include "simulator/driver/address_space.h"

// Called through the PLT, as PyTorch's libc10_cuda.so does: a tracer may stand in between.
namespace c10 {
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
struct Device {
  DeviceType type;
  int8_t index;
};
__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device);
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device);
}  // namespace c10

namespace sim {

namespace {

constexpr uint64_t SMALL = MIB, SMALL_SEGMENT = 2 * MIB, MIDDLE = 10 * MIB, MIDDLE_SEGMENT = 20 * MIB;

class Guard {
 public:
  explicit Guard(pthread_mutex_t &lock) : lock_(lock) { pthread_mutex_lock(&lock_); }
  ~Guard() { pthread_mutex_unlock(&lock_); }

 private:
  pthread_mutex_t &lock_;
};

c10::Device cuda(int device) { return {c10::DeviceType::CUDA, static_cast<int8_t>(device)}; }

}  // namespace

void CachingAllocator::open(int device, SegmentSource source) {
  device_ = device;
  source_ = source;
}

uint64_t CachingAllocator::round_bytes(uint64_t bytes) { return bytes < 512 ? 512 : round_up(bytes, 512); }

uint64_t CachingAllocator::segment_bytes(uint64_t bytes) {
  if (bytes <= SMALL) return SMALL_SEGMENT;
  return bytes < MIDDLE ? MIDDLE_SEGMENT : round_up(bytes, 2 * MIB);
}

bool CachingAllocator::worth_splitting(const Block &block, uint64_t bytes) {
  uint64_t rest = block.bytes - bytes;
  return block.small ? rest >= 512 : rest > SMALL;
}

void CachingAllocator::cache(Block *block) {
  const auto below = [&](const Block *other) {
    return other->bytes != block->bytes ? other->bytes < block->bytes : other->address < block->address;
  };
  cached_.insert(cached_.first_not(below), block);
}

void CachingAllocator::uncache(Block *block) {
  for (size_t i = 0; i < cached_.size(); ++i) {
    if (cached_[i] == block) return cached_.erase(i);
  }
}

CachingAllocator::Block *CachingAllocator::best_cached(uint64_t bytes, uint64_t stream, bool small) {
  for (size_t i = 0; i < cached_.size(); ++i) {
    Block *block = cached_[i];
    if (block->bytes < bytes || block->stream != stream || block->small != small) continue;
    cached_.erase(i);
    return block;
  }
  return nullptr;
}

CachingAllocator::Block *CachingAllocator::new_segment(uint64_t bytes, uint64_t stream, bool small) {
  uint64_t address = 0, whole = segment_bytes(bytes);
  if (source_.take(device_, &address, whole) != 0) return nullptr;
  Block *block = static_cast<Block *>(calloc(1, sizeof(Block)));
  *block = {address, whole, stream, small, false, nullptr, nullptr};
  ++stats_.segments_allocated;
  stats_.reserved_bytes += whole;
  return block;
}

void CachingAllocator::split(Block *block, uint64_t bytes) {
  Block *rest = static_cast<Block *>(calloc(1, sizeof(Block)));
  *rest = {block->address + bytes, block->bytes - bytes, block->stream, block->small, false, block, block->after};
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  cache(rest);
}

CachingAllocator::Block *CachingAllocator::merge(Block *block, Block *neighbour) {
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

uint64_t CachingAllocator::allocate(uint64_t wanted, uint64_t stream) {
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

bool CachingAllocator::release(uint64_t address) {
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
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(address), -bytes, stats_.live_bytes, stats_.reserved_bytes,
                                   cuda(device_));
  return true;
}

uint64_t CachingAllocator::block_bytes(uint64_t address) {
  Guard guard(lock_);
  Block *block = live_.find(address);
  return block ? block->bytes : 0;
}

void CachingAllocator::release_cached_segments() {
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

void CachingAllocator::empty_cache() {
  Guard guard(lock_);
  release_cached_segments();
}

AllocatorStats CachingAllocator::stats() {
  Guard guard(lock_);
  return stats_;
}

}  // namespace sim
