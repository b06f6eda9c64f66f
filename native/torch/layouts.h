#pragma once
// Every private fact about PyTorch's memory that one of the tracers reads, in one place. Each is checked against others before it is
// believed; where they do not agree, nothing is told.
//
//   type                                    | defined in                                    | seen in
//   ----------------------------------------|-----------------------------------------------|-------------------
//   torch::autograd::Node                   | torch/csrc/autograd/node.h or function.h      | 2.11, 2.13
//   ...::CUDACachingAllocator (the object)  | c10/cuda/CUDACachingAllocator.{h,cpp}         | 2.0 and later
//   ...::CUDACachingAllocator Block         | c10/cuda/CUDACachingAllocator.cpp             | 2.0, 2.1 and later
//   ...::CUDACachingAllocator BlockPool     | the same                                      | 2.0 and later
//   ska::flat_hash_map                      | c10/util/flat_hash_map.h                      | 2.0 and later
//   std::set                                | libstdc++'s bits/stl_tree.h                   | with all of them
#include <cstddef>
#include <cstdint>

namespace gmt::torch {

/// torch::autograd::Node:
///
///   until it became intrusive (seen in 2.11): | vptr | weak_ptr 16 B      | sequence_nr_ | topological_nr_ | has_parent_ | thread_id_ |
///   since then (seen in 2.13):                | vptr | combined_refcount_ | sequence_nr_ | topological_nr_ | has_parent_ | thread_id_ |
struct NodeLayout {
  uint32_t sequence, thread;
};
constexpr NodeLayout kSharedNode{24, 48};
constexpr NodeLayout kIntrusiveNode{16, 40};

/// The allocator in use. What `kAllocatorSymbol` names is the pointer to it; versions before 2.0 have no such symbol. The maps from
/// addresses to blocks lie in the object one behind the other: one in 2.0, later one for each lock.
constexpr const char *kAllocatorSymbol = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr size_t kMostAllocatorBytes = 16384;
/// In the names of classes of allocators that keep no such books.
constexpr const char *kAsyncAllocator = "CudaMallocAsync", *kPluggableAllocator = "Pluggable";

/// Block: | device | stream | stream_uses | size | requested_size | pool | ptr | allocated | mapped | prev | next | ...
///
/// requested_size and mapped came with 2.1. What stands before `size` differs, so all but `device` is told from where `ptr` lies, and
/// that is found by its value: the key that a map has for the block.
struct BlockLayout {
  static constexpr size_t kBytes = 136;  ///< that are read of one
  static constexpr size_t kDevice = 0;   ///< int8_t, or the lowest byte of an int
  static constexpr size_t kFirstPtr = 56, kLastPtr = 104;

  // From `ptr`.
  static constexpr ptrdiff_t kSizeBeforeRequested = -24, kSizeAlone = -16;
  static constexpr ptrdiff_t kRequested = -16;
  static constexpr ptrdiff_t kPool = -8;
  static constexpr ptrdiff_t kAllocated = 8;  ///< bool
  static constexpr ptrdiff_t kMapped = 9;     ///< bool
  static constexpr ptrdiff_t kPrevious = 16;
  static constexpr ptrdiff_t kNext = 24;
};

/// BlockPool begins with the std::set of its free blocks; a device's large and small pool lie so many bytes apart at most.
constexpr uint64_t kPoolsBeside = 256;

/// Node of a std::set<Block *>.
struct SetNode {
  uint64_t colour, parent, left, right;
  uint64_t block;
};

/// std::set<Block *> with a function pointer as its order.
struct BlockSet {
  uint64_t order;
  SetNode head;  ///< parent: the root; `block`: the number of entries
};
static_assert(sizeof(BlockSet) == 48);

/// ska::flat_hash_map<void *, Block *>: robin hood hashing.
struct BlockMap {
  uint64_t slots;
  uint64_t last_slot;  ///< 0: it never held anything
  int8_t shift;        ///< 64 - log2(number of slots); kEmptyShift while it never held anything
  int8_t most_lookups;
  uint16_t padding;
  float load;
  uint64_t count;

  static constexpr int8_t kEmptyShift = 63;
  static constexpr int kLeastLookups = 4;
  static constexpr float kLoad = 0.5f;
};
static_assert(sizeof(BlockMap) == 32);

struct BlockMapSlot {
  int8_t distance;  ///< of the entry from where it should be; < 0: empty
  uint8_t padding[7];
  uint64_t address, block;
};
static_assert(sizeof(BlockMapSlot) == 24);

}  // namespace gmt::torch
