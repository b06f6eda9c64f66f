#include "uprobe/before_map.h"

#include <algorithm>
#include <bit>

namespace gmt::uprobe {
namespace {

/// Robin hood hashing: a slot says how far its entry is from where it should be, < 0: empty.
struct Head {
  uint64_t slots;
  uint64_t last_slot;
  int8_t shift;  ///< 64 - log2(number of slots)
  int8_t most_lookups;
  uint16_t padding;
  float load;
  uint64_t count;
};
static_assert(sizeof(Head) == kMapBytes);

struct Slot {
  int8_t distance;
  uint8_t padding[7];
  uint64_t key, value;
};
static_assert(sizeof(Slot) == 24);

constexpr int kLeastLookups = 4;
constexpr uint64_t kMostSlots = 1ull << 27;
constexpr int kRounds = 4;

int log2_of(uint64_t slots) { return static_cast<int>(std::bit_width(slots)) - 1; }

bool fits(const Head &head) {
  if (head.slots == 0 || head.slots % 8 != 0 || head.load != 0.5f) return false;
  if (head.last_slot == 0) return head.count == 0 && head.shift == 63 && head.most_lookups == kLeastLookups - 1;
  const uint64_t slots = head.last_slot + 1;
  return slots <= kMostSlots && std::has_single_bit(slots) && head.shift == 64 - log2_of(slots) &&
         head.most_lookups == std::max(kLeastLookups, log2_of(slots)) && head.count <= slots;
}

bool same(const Head &a, const Head &b) {
  return a.slots == b.slots && a.last_slot == b.last_slot && a.count == b.count;
}

/// One look at one map. False: it changed meanwhile; what was seen is kept all the same.
bool look(BoundedMemory &memory, uint64_t address, Handed *out) {
  const auto head = memory.read<Head>(address);
  if (!head || !fits(*head)) return false;
  if (head->count == 0) return true;
  const size_t slots = head->last_slot + 1 + static_cast<size_t>(head->most_lookups);
  std::vector<std::byte> bytes;
  if (slots > memory.limits().bytes / sizeof(Slot)) return false;
  bytes.resize(slots * sizeof(Slot));
  if (!memory.read(head->slots, bytes.data(), bytes.size())) return false;
  uint64_t seen = 0;
  for (size_t i = 0; i < slots; i++) {
    const auto slot = value_at<Slot>(bytes.data(), i * sizeof(Slot));
    // The last one is a mark of the end, without an entry.
    if (slot.distance < 0 || slot.distance > head->most_lookups || i + 1 == slots) continue;
    seen++;
    (*out)[slot.key] = slot.value;
  }
  const auto after = memory.read<Head>(address);
  return after && same(*head, *after) && seen == head->count;
}

}  // namespace

bool is_map(const std::byte *bytes) { return fits(value_at<Head>(bytes, 0)); }

std::vector<MapRun> find_maps(uint64_t address, const std::vector<std::byte> &bytes) {
  std::vector<MapRun> runs;
  for (size_t at = 0; at + kMapBytes <= bytes.size(); at += 8) {
    MapRun run{address + at, 0};
    while (at + kMapBytes <= bytes.size() && is_map(bytes.data() + at)) run.count++, at += kMapBytes;
    if (run.count == 0) continue;
    runs.push_back(run);
    at -= 8;
  }
  return runs;
}

bool read_maps(BoundedMemory &memory, const MapRun &run, Handed *out) {
  bool whole = true;
  for (size_t i = 0; i < run.count && out->size() <= memory.limits().blocks; i++) {
    bool still = false;
    for (int round = 0; round < kRounds && !still && !memory.exhausted(); round++)
      still = look(memory, run.address + i * kMapBytes, out);
    whole = whole && still;
  }
  return whole && out->size() <= memory.limits().blocks;
}

}  // namespace gmt::uprobe
