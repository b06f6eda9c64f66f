#pragma once
// A caching allocator that keeps its books as PyTorch's does: maps from addresses to descriptions of blocks, blocks chained within
// their segment, free ones in ordered sets. What tells versions of PyTorch apart is a parameter.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "stand_in_map.h"

namespace stand_in {

constexpr uint64_t kSmall = 1 << 20, kRound = 512, kSmallSegment = 2 << 20, kLargeSegment = 20 << 20;

/// What the allocator asks of the world, and what it reports. `allocated` and `reserved` are the device's totals behind it.
struct World {
  std::function<uint64_t(uint64_t bytes, int device)> take_segment;
  std::function<void(uint64_t address)> give_segment = [](uint64_t) {};
  std::function<void(uint64_t address, int64_t bytes, uint64_t allocated, uint64_t reserved, int device)> report =
      [](uint64_t, int64_t, uint64_t, uint64_t, int) {};
};

template <class Block>
struct Pool {
  using Order = bool (*)(const Block *, const Block *);
  static bool by_size(const Block *a, const Block *b) {
    return a->size != b->size ? a->size < b->size : a->ptr < b->ptr;
  }
  std::set<Block *, Order> blocks{by_size};
  std::set<Block *, Order> unmapped{by_size};
  bool is_small;
  void *owner = nullptr;
  int64_t looked = 0;
};

struct StreamSet {
  uint64_t words[4] = {};
};

/// PyTorch 2.0: one map, no requested size, parts of segments are always mapped.
struct OldBlock {
  int device = 0;
  void *stream = nullptr;
  StreamSet stream_uses;
  uint64_t size = 0;
  Pool<OldBlock> *pool = nullptr;
  uint64_t ptr = 0;
  bool allocated = false;
  OldBlock *prev = nullptr, *next = nullptr;
  int event_count = 0, gc_count = 0;
  uint64_t context[5] = {};
  static constexpr size_t kMaps = 1;
  void set_requested(uint64_t) {}
  void set_mapped(bool) {}
};

/// PyTorch 2.1 and later.
struct MiddleBlock {
  int8_t device = 0;
  void *stream = nullptr;
  StreamSet stream_uses;
  uint64_t size = 0, requested_size = 0;
  Pool<MiddleBlock> *pool = nullptr;
  uint64_t ptr = 0;
  bool allocated = false, mapped = true;
  MiddleBlock *prev = nullptr, *next = nullptr;
  int event_count = 0;
  uint64_t context[6] = {};
  static constexpr size_t kMaps = 67;
  void set_requested(uint64_t bytes) { requested_size = bytes; }
  void set_mapped(bool is) { mapped = is; }
};

/// A number of registration before the size, as newer ones have it, and a stream of three words.
struct NewBlock {
  int8_t device = 0;
  uint64_t stream[3] = {};
  StreamSet stream_uses;
  int32_t registration_counter = -1;
  uint64_t size = 0, requested_size = 0;
  Pool<NewBlock> *pool = nullptr;
  uint64_t ptr = 0;
  bool allocated = false, mapped = true;
  NewBlock *prev = nullptr, *next = nullptr;
  int event_count = 0;
  uint64_t context[6] = {};
  static constexpr size_t kMaps = 67;
  void set_requested(uint64_t bytes) { requested_size = bytes; }
  void set_mapped(bool is) { mapped = is; }
};

/// One device's blocks. The lock is held while it reports.
template <class Block>
class Device {
 public:
  Device(World *world, int device) : world_(*world), device_(device) {
    small_.is_small = true, large_.is_small = false;
  }

  Block *allocate(uint64_t wanted) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const uint64_t bytes = (std::max<uint64_t>(wanted, 1) + kRound - 1) / kRound * kRound;
    Pool<Block> &pool = bytes <= kSmall ? small_ : large_;
    Block *block = find(pool, bytes);
    if (!block) block = take_segment(pool, bytes);
    pool.blocks.erase(block);
    if (block->size - bytes >= kRound) split(block, bytes);
    block->allocated = true;
    block->set_requested(wanted);
    allocated_ += block->size;
    world_.report(block->ptr, static_cast<int64_t>(block->size), allocated_, reserved_, device_);
    return block;
  }

  void free(Block *block) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const uint64_t address = block->ptr;
    const auto bytes = static_cast<int64_t>(block->size);
    block->allocated = false;
    allocated_ -= block->size;
    Pool<Block> &pool = *block->pool;
    block = merge(pool, block);
    pool.blocks.insert(block);
    world_.report(address, -bytes, allocated_, reserved_, device_);
  }

  /// Gives back the segments without a block in use.
  void empty_cache() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    for (Pool<Block> *pool : {&small_, &large_}) {
      for (auto at = pool->blocks.begin(); at != pool->blocks.end();) {
        Block *block = *at;
        if (block->prev || block->next || block->allocated) {
          ++at;
          continue;
        }
        at = pool->blocks.erase(at);
        reserved_ -= block->size;
        world_.give_segment(block->ptr);
        delete block;
      }
    }
  }

  /// A segment of which only the first part is mapped: as an expandable one.
  void add_expandable(uint64_t mapped, uint64_t unmapped) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    Block *block = take_segment(large_, mapped + unmapped - kLargeSegment);
    large_.blocks.erase(block);
    Block *rest = split_off(block, mapped);
    rest->set_mapped(false);
    large_.unmapped.insert(rest);
    large_.blocks.insert(block);
    reserved_ -= rest->size;
  }

  uint64_t allocated() const { return allocated_; }
  uint64_t reserved() const { return reserved_; }

 private:
  Block *find(Pool<Block> &pool, uint64_t bytes) {
    Block key;
    key.size = bytes;
    const auto at = pool.blocks.lower_bound(&key);
    return at == pool.blocks.end() ? nullptr : *at;
  }

  Block *take_segment(Pool<Block> &pool, uint64_t bytes) {
    const uint64_t whole = pool.is_small ? kSmallSegment : bytes + kLargeSegment;
    auto *block = new Block();
    block->device = static_cast<decltype(block->device)>(device_);
    block->pool = &pool;
    block->size = whole;
    block->ptr = world_.take_segment(whole, device_);
    reserved_ += whole;
    pool.blocks.insert(block);
    return block;
  }

  Block *split_off(Block *block, uint64_t bytes) {
    auto *rest = new Block(*block);
    rest->ptr += bytes;
    rest->size -= bytes;
    rest->prev = block;
    if (rest->next) rest->next->prev = rest;
    block->next = rest;
    block->size = bytes;
    return rest;
  }

  void split(Block *block, uint64_t bytes) { block->pool->blocks.insert(split_off(block, bytes)); }

  /// The block together with its free neighbours.
  Block *merge(Pool<Block> &pool, Block *block) {
    if (Block *next = block->next; next && pool.blocks.count(next)) {
      pool.blocks.erase(next);
      block->size += next->size;
      block->next = next->next;
      if (next->next) next->next->prev = block;
      delete next;
    }
    Block *previous = block->prev;
    if (!previous || !pool.blocks.count(previous)) return block;
    pool.blocks.erase(previous);
    previous->size += block->size;
    previous->next = block->next;
    if (block->next) block->next->prev = previous;
    delete block;
    return previous;
  }

  World &world_;
  int device_;
  std::recursive_mutex mutex_;
  Pool<Block> large_, small_;
  uint64_t allocated_ = 0, reserved_ = 0;
};

/// The object that a program's `allocator` points at.
class Base {
 public:
  virtual ~Base() = default;
  virtual uint64_t allocate(uint64_t bytes, int device) = 0;
  virtual void free(uint64_t address) = 0;
};

template <class Block>
class Native : public Base {
 public:
  Native(World *world, int devices) {
    for (int i = 0; i < devices; i++) device_allocator.push_back(std::make_unique<Device<Block>>(world, i));
  }
  uint64_t allocate(uint64_t bytes, int device) override {
    Block *block = device_allocator[static_cast<size_t>(device)]->allocate(bytes);
    const uint64_t address = block->ptr;
    const size_t shard = shard_of(address);
    const std::lock_guard<std::mutex> lock(mutex[shard].m);
    allocated_blocks[shard].insert(address, block);
    return address;
  }
  void free(uint64_t address) override {
    const size_t shard = shard_of(address);
    Block *block;
    {
      const std::lock_guard<std::mutex> lock(mutex[shard].m);
      block = allocated_blocks[shard].take(address);
    }
    device_allocator[static_cast<size_t>(block->device)]->free(block);
  }
  Device<Block> &device(int index) { return *device_allocator[static_cast<size_t>(index)]; }

 private:
  struct alignas(64) AlignedMutex {
    std::mutex m;
  };
  static size_t shard_of(uint64_t address) { return (address >> 9) * 2654435761u % Block::kMaps; }

  std::array<AlignedMutex, Block::kMaps> mutex;
  std::array<PointerMap<Block>, Block::kMaps> allocated_blocks;
  uint64_t clock_converter[4] = {1, 2, 3, 4};
  std::vector<std::unique_ptr<Device<Block>>> device_allocator;
};

}  // namespace stand_in
