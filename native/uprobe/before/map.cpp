#include "uprobe/before/map.h"

#include <algorithm>
#include <bit>

namespace gmt::uprobe {
namespace {

using Head = torch::BlockMap;
using Slot = torch::BlockMapSlot;

constexpr uint64_t kMostSlots = 1ull << 27;

int log2_of(uint64_t slots) { return static_cast<int>(std::bit_width(slots)) - 1; }

bool fits(const Head &head) {
  if (head.slots == 0 || head.slots % 8 != 0 || head.load != Head::kLoad) return false;
  if (head.last_slot == 0)
    return head.count == 0 && head.shift == Head::kEmptyShift && head.most_lookups == Head::kLeastLookups - 1;
  const uint64_t slots = head.last_slot + 1;
  return slots <= kMostSlots && std::has_single_bit(slots) && head.shift == 64 - log2_of(slots) &&
         head.most_lookups == std::max(Head::kLeastLookups, log2_of(slots)) && head.count <= slots;
}

bool same(const Head &a, const Head &b) {
  return a.slots == b.slots && a.last_slot == b.last_slot && a.count == b.count;
}

/// The slots of a map, read once; empty: not all of them could be.
std::vector<std::byte> read_slots(BoundedMemory &memory, const Head &head) {
  const size_t slots = head.last_slot + 1 + static_cast<size_t>(head.most_lookups);
  std::vector<std::byte> bytes;
  if (slots > memory.limits().bytes / sizeof(Slot)) return bytes;
  bytes.resize(slots * sizeof(Slot));
  if (!memory.read(head.slots, bytes.data(), bytes.size())) bytes.clear();
  return bytes;
}

/// Adds the entries of slots; how many they were.
uint64_t add_entries(const std::vector<std::byte> &bytes, const Head &head, Handed *out) {
  uint64_t seen = 0;
  // The last one is a mark of the end, without an entry.
  for (size_t at = 0; at + sizeof(Slot) < bytes.size(); at += sizeof(Slot)) {
    const auto slot = value_at<Slot>(bytes.data(), at);
    if (slot.distance < 0 || slot.distance > head.most_lookups) continue;
    seen++;
    (*out)[slot.address] = slot.block;
  }
  return seen;
}

/// One look at one map. True: it rested, two readings agree. What was seen is added either way.
bool read_map(BoundedMemory &memory, uint64_t address, Handed *out) {
  const auto head = memory.read<Head>(address);
  if (!head || !fits(*head)) return false;
  if (head->count == 0) return true;
  const auto first = read_slots(memory, *head), second = read_slots(memory, *head);
  if (first.empty() || second.empty()) return false;
  const uint64_t seen = add_entries(first, *head, out);
  const auto after = memory.read<Head>(address);
  if (first == second && after && same(*head, *after) && seen == head->count) return true;
  add_entries(second, *head, out);
  return false;
}

}  // namespace

bool is_map(const std::byte *bytes) { return fits(value_at<Head>(bytes, 0)); }

std::vector<MapRun> find_maps(uint64_t address, const std::vector<std::vector<std::byte>> &looks) {
  const auto map_at = [&](size_t at) {
    return std::any_of(looks.begin(), looks.end(), [at](const std::vector<std::byte> &bytes) {
      return at + kMapBytes <= bytes.size() && is_map(bytes.data() + at);
    });
  };
  size_t end = 0;
  for (const auto &bytes : looks) end = std::max(end, bytes.size());
  std::vector<MapRun> runs;
  for (size_t at = 0; at + kMapBytes <= end; at += 8) {
    MapRun run{address + at, 0};
    while (map_at(at)) run.count++, at += kMapBytes;
    if (run.count == 0) continue;
    runs.push_back(run);
    at -= 8;
  }
  return runs;
}

std::vector<uint64_t> places_of(const Handed &handed) {
  std::vector<uint64_t> places;
  for (const auto &[address, place] : handed) places.push_back(place);
  return places;
}

void read_maps(BoundedMemory &memory, const MapRun &run, int rounds, Handed *out) {
  std::vector<uint64_t> busy;
  for (size_t i = 0; i < run.count; i++) busy.push_back(run.address + i * kMapBytes);
  for (int round = 0; round < rounds && !busy.empty() && !memory.exhausted(); round++) {
    if (round > 0 && !memory.plenty()) break;
    if (round > 0) memory.wait();
    std::erase_if(busy,
                  [&](uint64_t map) { return out->size() <= memory.limits().blocks && read_map(memory, map, out); });
  }
}

}  // namespace gmt::uprobe
