// The pools in which PyTorch's allocator keeps its free blocks. A pool is known by the free blocks in it, which point back at it.
#include <unordered_set>

#include "torch/layouts.h"
#include "uprobe/before/block.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostPools = 4096;

using Node = torch::SetNode;
using Set = torch::BlockSet;

/// The descriptions that a pool's tree holds.
std::vector<uint64_t> read_tree(BoundedMemory &memory, const Set &set) {
  std::vector<uint64_t> found, level{set.head.parent}, next;
  std::vector<std::byte> bytes;
  while (!level.empty() && found.size() < set.head.block) {
    if (!memory.read_each(level, sizeof(Node), &bytes)) return {};
    next.clear();
    for (size_t i = 0; i < level.size(); i++) {
      const auto node = value_at<Node>(bytes.data(), i * sizeof(Node));
      if (node.block) found.push_back(node.block);
      if (node.left) next.push_back(node.left);
      if (node.right) next.push_back(node.right);
    }
    level.swap(next);
  }
  return found;
}

/// Adds the free blocks of what may be a pool at `place`. False: it changed while it was read.
bool read_pool(BoundedMemory &memory, const BlockShape &shape, uint64_t place, SeenBlocks *blocks) {
  const auto set = memory.read<Set>(place);
  if (!set || !set->head.parent || !set->order || set->head.block > memory.limits().blocks || set->head.block == 0)
    return true;
  const auto root = memory.read<Node>(set->head.parent);
  if (!root || root->parent != place + offsetof(Set, head)) return true;
  const auto places = read_tree(memory, *set);
  SeenBlocks free;
  if (!read_blocks(memory, shape, places, &free)) return false;
  size_t own = 0;
  for (const auto &[where, block] : free) {
    if (block.pool != place || block.allocated) continue;
    own++;
    blocks->emplace(where, block);
  }
  const auto after = memory.read<Set>(place);
  return own == 0 || (own == set->head.block && after && after->head.block == own);
}

}  // namespace

bool read_free_blocks(BoundedMemory &memory, const BlockShape &shape, SeenBlocks *blocks) {
  std::unordered_set<uint64_t> pools;
  for (const auto &[where, block] : *blocks) {
    if (pools.size() == kMostPools) break;
    pools.insert(block.pool);
  }
  std::unordered_set<uint64_t> places;
  for (const uint64_t pool : pools)
    for (uint64_t at = pool - torch::kPoolsBeside; at <= pool + torch::kPoolsBeside; at += 8) places.insert(at);
  bool rested = true;
  for (const uint64_t place : places) rested = read_pool(memory, shape, place, blocks) && rested;
  return rested;
}

}  // namespace gmt::uprobe
