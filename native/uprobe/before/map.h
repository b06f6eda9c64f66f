#pragma once
// The hash maps in which PyTorch's allocator keeps what it has handed out (ska::flat_hash_map<void *, Block *>), read from outside.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "torch/layouts.h"
#include "uprobe/before/memory.h"

namespace gmt::uprobe {

constexpr size_t kMapBytes = sizeof(torch::BlockMap);

/// Consecutive maps in an object: from one on in old versions to one for each of its locks.
struct MapRun {
  uint64_t address;
  size_t count;
};

/// Whether kMapBytes bytes can be the head of such a map: its fields depend on each other.
bool is_map(const std::byte *bytes);

/// All runs of maps in an object at `address`, of which `looks` are the bytes at several moments: a map that is just being changed may
/// look like none.
std::vector<MapRun> find_maps(uint64_t address, const std::vector<std::vector<std::byte>> &looks);

/// From a block's address to the address of its description.
using Handed = std::unordered_map<uint64_t, uint64_t>;
std::vector<uint64_t> places_of(const Handed &handed);

/// Adds what the maps of a run hold. A map that changes is looked at up to `rounds` times, and what any look saw is added: an entry
/// that is being moved is in neither of its places for a moment.
void read_maps(BoundedMemory &memory, const MapRun &run, int rounds, Handed *out);

}  // namespace gmt::uprobe
