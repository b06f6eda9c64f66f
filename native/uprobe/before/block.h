#pragma once
// PyTorch's descriptions of blocks (CUDACachingAllocator's Block), read from outside. Where their fields lie differs between
// versions and is found from what they hold: each names the address by which the allocator's maps know it.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "uprobe/before/map.h"
#include "uprobe/before/memory.h"
#include "uprobe/before/torch.h"

namespace gmt::uprobe {

struct SeenBlock {
  uint64_t address = 0, bytes = 0;
  uint64_t pool = 0, previous = 0, next = 0;
  uint8_t device = 0;
  bool allocated = false, mapped = true;
};

/// By the address of the description.
using SeenBlocks = std::unordered_map<uint64_t, SeenBlock>;

/// Where the fields of a description lie.
class BlockShape {
 public:
  /// From blocks that are handed out; none: they do not agree on one.
  static std::optional<BlockShape> find(BoundedMemory &memory, const Handed &handed);

  /// None: it contradicts itself.
  std::optional<SeenBlock> read(const std::byte *bytes) const;

 private:
  bool try_size(BoundedMemory &memory, const std::vector<uint64_t> &keys, const std::vector<std::byte> &images);
  bool chains(BoundedMemory &memory, const std::vector<SeenBlock> &blocks) const;

  size_t at(ptrdiff_t from_address) const { return address_ + static_cast<size_t>(from_address); }

  size_t address_ = 0;       ///< of the block's own address
  ptrdiff_t size_ = 0;       ///< from there
  bool has_mapped_ = false;  ///< older versions do not map parts of segments
};

/// Reads the descriptions at `places` and adds those that make sense. False: a limit is reached.
bool read_blocks(BoundedMemory &memory, const BlockShape &shape, const std::vector<uint64_t> &places, SeenBlocks *out);

/// Adds the free blocks of the pools that `blocks` belong to, and of the pools beside those. False: a pool changed meanwhile.
bool read_free_blocks(BoundedMemory &memory, const BlockShape &shape, SeenBlocks *blocks);

/// Finds where PyTorch's segments lie: chains of blocks, one behind the other.
/// Where a segment lies does not change as long as it lives, so what one look misses because it changes another may add. It is over
/// when enough looks in a row find nothing new. False: that many there were not.
bool read_segments(BoundedMemory &memory, const BlockShape &shape, const MapRun &run, BeforeMemory *out);

}  // namespace gmt::uprobe
