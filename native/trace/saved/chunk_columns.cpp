#include "trace/saved/chunk_columns.h"

#include <array>
#include <bit>
#include <cstring>
#include <map>

#include "wire/container.h"

namespace gmt::trace {
namespace {

constexpr size_t kWords = GMT_SLOT_BYTES / sizeof(uint32_t);
static_assert(std::endian::native == std::endian::little);

using Slot = std::array<uint32_t, kWords>;

/// The records of one kind: the numbers of their first slots.
struct Rows {
  gmt_packed_kind kind;
  std::vector<uint32_t> begins;
};

/// What of an event is kept as a difference to the one before: sequence and thread, and the time.
Slot difference(Slot slot, const Slot &before, int sign) {
  uint64_t commit, last;
  std::memcpy(&commit, slot.data(), sizeof commit);
  std::memcpy(&last, before.data(), sizeof last);
  commit += sign < 0 ? -last : last;
  std::memcpy(slot.data(), &commit, sizeof commit);
  slot[kWords - 1] += sign < 0 ? -before[kWords - 1] : before[kWords - 1];
  return slot;
}

/// Finds the records of a chunk, and their kinds in the order of the chunk.
std::vector<Rows> kinds_of(std::span<const std::byte> slots, std::vector<uint8_t> &order) {
  const auto count = static_cast<uint32_t>(slots.size() / GMT_SLOT_BYTES);
  std::vector<Rows> all{{{1, 0}, {}}};  // the first kind is that of slots that are no record
  std::map<uint32_t, uint8_t> known;
  for (uint32_t at = 0; at < count;) {
    const auto *slot = reinterpret_cast<const gmt_side_record *>(slots.data() + size_t{at} * GMT_SLOT_BYTES);
    const bool is_event = !(slot->commit & GMT_SIDE_RECORD_BIT);
    const uint16_t own = is_event ? uint16_t{1} : slot->slots;
    uint8_t kind = 0;
    if (own > 0 && own <= count - at && (all.size() < UINT8_MAX || is_event)) {
      const uint32_t key = is_event ? 0 : uint32_t{slot->kind} << 16 | own;
      const auto [place, is_new] = known.try_emplace(key, static_cast<uint8_t>(all.size()));
      if (is_new) all.push_back({{own, is_event}, {}});
      kind = place->second;
    }
    order.push_back(kind);
    all[kind].begins.push_back(at);
    at += all[kind].kind.slots;
  }
  return all;
}

/// Calls `move(slot, before, place of its first byte)` for all slots of a kind; its other bytes are `count` apart each.
template <typename Move>
void each_slot(const Rows &rows, Move move) {
  const size_t count = rows.begins.size();
  Slot before{};
  for (size_t row = 0; row < count; ++row) {
    for (size_t part = 0; part < rows.kind.slots; ++part)
      move(rows.begins[row] + part, before, part * GMT_SLOT_BYTES * count + row);
  }
}

void add_columns(std::span<const std::byte> slots, const Rows &rows, std::byte *columns) {
  const size_t count = rows.begins.size();
  each_slot(rows, [&](size_t number, Slot &before, size_t place) {
    Slot slot;
    std::memcpy(slot.data(), slots.data() + number * GMT_SLOT_BYTES, GMT_SLOT_BYTES);
    const Slot kept = rows.kind.differences ? difference(slot, before, -1) : slot;
    const auto bytes = std::bit_cast<std::array<std::byte, GMT_SLOT_BYTES>>(kept);
    before = slot;
    for (size_t at = 0; at < GMT_SLOT_BYTES; ++at) columns[place + at * count] = bytes[at];
  });
}

void take_columns(const std::byte *columns, const Rows &rows, std::span<std::byte> slots) {
  const size_t count = rows.begins.size();
  each_slot(rows, [&](size_t number, Slot &before, size_t place) {
    std::array<std::byte, GMT_SLOT_BYTES> bytes;
    for (size_t at = 0; at < GMT_SLOT_BYTES; ++at) bytes[at] = columns[place + at * count];
    const auto kept = std::bit_cast<Slot>(bytes);
    before = rows.kind.differences ? difference(kept, before, 1) : kept;
    std::memcpy(slots.data() + number * GMT_SLOT_BYTES, before.data(), GMT_SLOT_BYTES);
  });
}

template <typename T>
void put(std::vector<std::byte> &out, const T *things, size_t count) {
  const auto *bytes = reinterpret_cast<const std::byte *>(things);
  out.insert(out.end(), bytes, bytes + count * sizeof(T));
}

}  // namespace

std::vector<std::byte> to_columns(std::span<const std::byte> slots) {
  std::vector<uint8_t> order;
  const std::vector<Rows> all = kinds_of(slots, order);
  std::vector<std::byte> out;
  const gmt_packed_kinds head{static_cast<uint32_t>(all.size()), static_cast<uint32_t>(order.size())};
  put(out, &head, 1);
  for (const Rows &rows : all) put(out, &rows.kind, 1);
  put(out, order.data(), order.size());
  size_t at = out.size();
  out.resize(at + slots.size());
  for (const Rows &rows : all) {
    add_columns(slots, rows, out.data() + at);
    at += rows.begins.size() * rows.kind.slots * GMT_SLOT_BYTES;
  }
  return out;
}

bool from_columns(std::span<const std::byte> columns, std::span<std::byte> slots) {
  gmt_packed_kinds head;
  if (columns.size() < sizeof head) return false;
  std::memcpy(&head, columns.data(), sizeof head);
  const uint64_t begin = sizeof head + uint64_t{head.kinds} * sizeof(gmt_packed_kind) + head.records;
  if (head.kinds > UINT8_MAX + 1u || begin > columns.size() || columns.size() - begin != slots.size()) return false;
  std::vector<Rows> all(head.kinds);
  const std::byte *from = columns.data() + sizeof head;
  for (Rows &rows : all) {
    std::memcpy(&rows.kind, from, sizeof rows.kind);
    from += sizeof rows.kind;
  }
  uint64_t count = 0;
  for (uint32_t record = 0; record < head.records; ++record) {
    const auto kind = static_cast<uint8_t>(from[record]);
    if (kind >= all.size() || count >= GMT_SLOTS_PER_CHUNK) return false;
    all[kind].begins.push_back(static_cast<uint32_t>(count));
    count += all[kind].kind.slots;
  }
  if (count * GMT_SLOT_BYTES != slots.size()) return false;
  from += head.records;
  for (const Rows &rows : all) {
    take_columns(from, rows, slots);
    from += rows.begins.size() * rows.kind.slots * GMT_SLOT_BYTES;
  }
  return true;
}

}  // namespace gmt::trace
