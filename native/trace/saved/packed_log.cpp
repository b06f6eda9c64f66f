#include "trace/saved/packed_log.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gmt::trace {
namespace {

constexpr uint64_t kHeaderPage = 4096;
constexpr size_t kWords = GMT_SLOT_BYTES / sizeof(uint32_t);
static_assert(std::endian::native == std::endian::little);

using Slot = std::array<uint32_t, kWords>;

/// What of a slot is kept as a difference to the one before: sequence and thread, and the time.
Slot difference(Slot slot, const Slot &before, int sign) {
  uint64_t commit, last;
  std::memcpy(&commit, slot.data(), sizeof commit);
  std::memcpy(&last, before.data(), sizeof last);
  commit += sign < 0 ? -last : last;
  std::memcpy(slot.data(), &commit, sizeof commit);
  slot[kWords - 1] += sign < 0 ? -before[kWords - 1] : before[kWords - 1];
  return slot;
}

void to_columns(const std::byte *slots, uint32_t count, std::byte *columns) {
  Slot before{};
  for (uint32_t i = 0; i < count; ++i) {
    Slot slot;
    std::memcpy(slot.data(), slots + size_t{i} * GMT_SLOT_BYTES, GMT_SLOT_BYTES);
    const auto bytes = std::bit_cast<std::array<std::byte, GMT_SLOT_BYTES>>(difference(slot, before, -1));
    before = slot;
    for (size_t at = 0; at < GMT_SLOT_BYTES; ++at) columns[at * count + i] = bytes[at];
  }
}

void from_columns(const std::byte *columns, uint32_t count, std::byte *slots) {
  Slot before{};
  for (uint32_t i = 0; i < count; ++i) {
    std::array<std::byte, GMT_SLOT_BYTES> bytes;
    for (size_t at = 0; at < GMT_SLOT_BYTES; ++at) bytes[at] = columns[at * count + i];
    before = difference(std::bit_cast<Slot>(bytes), before, 1);
    std::memcpy(slots + size_t{i} * GMT_SLOT_BYTES, before.data(), GMT_SLOT_BYTES);
  }
}

uint32_t written_slots(std::span<const std::byte> slots) {
  size_t end = slots.size();
  while (end > 0 && slots[end - 1] == std::byte{0}) --end;
  return static_cast<uint32_t>((end + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
}

bool sound(const gmt_packed_place &place, uint64_t size) {
  const uint64_t bytes = sizeof(gmt_packed_chunk) + uint64_t{place.chunk.bytes};
  return place.chunk.magic == GMT_PACKED_MAGIC && place.chunk.slots <= GMT_SLOTS_PER_CHUNK && place.offset <= size &&
         bytes <= size - place.offset;
}

}  // namespace

LogPacker::LogPacker(TraceWriter &writer) : writer_(writer), end_(kHeaderPage) {
  writer_.begin_section(GMT_SECTION_PACKED_LOG);
  writer_.append(std::vector<std::byte>(kHeaderPage));
}

void LogPacker::add(std::span<const std::byte> chunk) {
  const std::span slots = chunk.subspan(GMT_CHUNK_HEADER_BYTES);
  gmt_packed_chunk packed{GMT_PACKED_MAGIC, 0, written_slots(slots), 0, {}};
  std::memcpy(&packed.header, chunk.data(), sizeof packed.header);
  columns_.resize(size_t{packed.slots} * GMT_SLOT_BYTES);
  to_columns(slots.data(), packed.slots, columns_.data());
  const std::span frame = packer_.pack(columns_);
  packed.bytes = static_cast<uint32_t>(frame.size());
  places_.push_back({end_, packed});
  writer_.append(std::as_bytes(std::span(&packed, 1)));
  writer_.append(frame);
  end_ += sizeof packed + frame.size();
}

void LogPacker::finish(gmt_file_header header) {
  header.chunks_reserved = places_.size();
  writer_.rewrite(0, std::as_bytes(std::span(&header, 1)));
  writer_.begin_section(GMT_SECTION_INDEX);
  writer_.append(std::as_bytes(std::span(places_)));
}

PackedLog::PackedLog(FileMap &map, std::span<const std::byte> index)
    : places_(index.size() / sizeof(gmt_packed_place)) {
  if (!index.empty()) std::memcpy(places_.data(), index.data(), places_.size() * sizeof(gmt_packed_place));
  const bool whole = std::ranges::all_of(places_, [&](const auto &place) { return sound(place, map.size()); });
  if (!whole) places_.clear();
  if (places_.empty()) search(map);
}

void PackedLog::search(FileMap &map) {
  for (gmt_packed_place place{kHeaderPage, {}};;) {
    if (!map.copy(place.offset, sizeof place.chunk, reinterpret_cast<std::byte *>(&place.chunk))) return;
    if (!sound(place, map.size())) return;
    places_.push_back(place);
    place.offset += sizeof place.chunk + place.chunk.bytes;
  }
}

const std::byte *PackedLog::slots(FileMap &map, uint64_t index) {
  const gmt_packed_place &place = places_[index];
  const auto [known, is_new] = open_.try_emplace(index);
  if (!is_new) return known->second.data();
  std::vector<std::byte> frame(place.chunk.bytes);
  std::vector<std::byte> columns(size_t{place.chunk.slots} * GMT_SLOT_BYTES);
  const bool good =
      map.copy(place.offset + sizeof place.chunk, frame.size(), frame.data()) && unpacker_.unpack(frame, columns);
  if (!good) {
    open_.erase(known);
    return nullptr;
  }
  known->second.resize(std::max<size_t>(columns.size(), 1));  // has a place where there are no slots, too
  from_columns(columns.data(), place.chunk.slots, known->second.data());
  return known->second.data();
}

}  // namespace gmt::trace
