#include "trace/saved/packed_log.h"

#include <algorithm>
#include <cstring>

#include "trace/saved/chunk_columns.h"

namespace gmt::trace {
namespace {

constexpr uint64_t kHeaderPage = 4096;

/// Up to the last byte that is not zero: the zeros behind it come back by themselves.
uint32_t packed_slots(std::span<const std::byte> slots) {
  size_t end = slots.size();
  while (end > 0 && slots[end - 1] == std::byte{0}) --end;
  return static_cast<uint32_t>((end + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
}

/// That the records of packed slots take: the last one may continue with zeros, which were not packed.
size_t record_slots(std::span<const std::byte> slots) {
  size_t at = 0;
  while (at * GMT_SLOT_BYTES < slots.size()) {
    const auto *slot = reinterpret_cast<const gmt_side_record *>(slots.data() + at * GMT_SLOT_BYTES);
    at += slot->commit & GMT_SIDE_RECORD_BIT ? std::max<size_t>(slot->slots, 1) : 1;
  }
  return std::min<size_t>(at, GMT_SLOTS_PER_CHUNK);
}

bool sound(const gmt_packed_place &place, uint64_t size) {
  const uint64_t bytes = sizeof(gmt_packed_chunk) + uint64_t{place.chunk.bytes};
  return place.chunk.magic == GMT_PACKED_MAGIC && place.chunk.slots <= GMT_SLOTS_PER_CHUNK && place.offset <= size &&
         place.chunk.columns <= 2 * GMT_CHUNK_BYTES && bytes <= size - place.offset;
}

}  // namespace

LogPacker::LogPacker(TraceWriter &writer) : writer_(writer), end_(kHeaderPage) {
  writer_.begin_section(GMT_SECTION_PACKED_LOG);
  writer_.append(std::vector<std::byte>(kHeaderPage));
}

void LogPacker::add(std::span<const std::byte> chunk) {
  const std::span slots = chunk.subspan(GMT_CHUNK_HEADER_BYTES);
  gmt_packed_chunk packed{GMT_PACKED_MAGIC, 0, packed_slots(slots), 0, {}};
  std::memcpy(&packed.header, chunk.data(), sizeof packed.header);
  const std::vector<std::byte> columns = to_columns(slots.first(size_t{packed.slots} * GMT_SLOT_BYTES));
  packed.columns = static_cast<uint32_t>(columns.size());
  const std::span frame = packer_.pack(columns);
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
  if (!places_.empty()) std::memcpy(places_.data(), index.data(), places_.size() * sizeof(gmt_packed_place));
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

std::span<const std::byte> PackedLog::slots(FileMap &map, uint64_t index) {
  const gmt_packed_place &place = places_[index];
  const auto [known, is_new] = open_.try_emplace(index);
  std::vector<std::byte> &slots = known->second;
  if (!is_new) return slots;
  std::vector<std::byte> frame(place.chunk.bytes), columns(place.chunk.columns);
  slots.reserve(1);  // has a place where there are no slots, too
  slots.resize(size_t{place.chunk.slots} * GMT_SLOT_BYTES);
  if (map.copy(place.offset + sizeof place.chunk, frame.size(), frame.data()) && unpacker_.unpack(frame, columns) &&
      from_columns(columns, slots)) {
    slots.resize(record_slots(slots) * GMT_SLOT_BYTES);
    return slots;
  }
  open_.erase(known);
  return {};
}

}  // namespace gmt::trace
