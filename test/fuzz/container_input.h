#pragma once
// How an input tells a saved trace, by its first byte: as the file is; without its long empty parts; or by its log alone, whose
// chunks are packed here, since no damage passes the checksum of a frame.
#include <algorithm>
#include <cstring>
#include <vector>

#include "trace/saved/chunk_columns.h"
#include "trace/saved/zstd.h"
#include "wire/container.h"

namespace gmt::test {

using Bytes = std::vector<uint8_t>;
enum InputForm : uint8_t { kAsItIs, kSparse, kUnpacked, kForms };

constexpr size_t kPage = 4096, kUnit = 64, kMostBytes = 4 << 20;

inline void put(Bytes &to, const void *bytes, size_t count) {
  const auto *first = static_cast<const uint8_t *>(bytes);
  to.insert(to.end(), first, first + count);
}

/// Pairs of u16, units that are empty and units that follow, and then these.
inline Bytes sparse_of(const Bytes &whole) {
  const size_t units = whole.size() / kUnit;
  const auto empty = [&](size_t unit) {
    return std::all_of(&whole[unit * kUnit], &whole[unit * kUnit] + kUnit, [](uint8_t byte) { return byte == 0; });
  };
  Bytes input{kSparse};
  for (size_t at = 0; at < units;) {
    uint16_t pair[2] = {};
    while (at < units && empty(at) && ++pair[0] < 0xffff) ++at;
    const size_t begin = at;
    while (at < units && !empty(at) && ++pair[1] < 0xffff) ++at;
    put(input, pair, sizeof pair);
    put(input, &whole[begin * kUnit], (at - begin) * kUnit);
  }
  put(input, &whole[units * kUnit], whole.size() % kUnit);
  return input;
}

inline Bytes from_sparse(const uint8_t *data, size_t size) {
  Bytes whole;
  for (size_t at = 0; at + 4 <= size && whole.size() < kMostBytes;) {
    uint16_t pair[2];
    std::memcpy(pair, data + at, sizeof pair);
    at += sizeof pair;
    whole.resize(std::min(whole.size() + pair[0] * kUnit, kMostBytes));
    const size_t count = std::min(pair[1] * kUnit, size - at);
    put(whole, data + at, count);
    at += count;
  }
  return whole;
}

/// The log as fuzz_log takes it: its header, and for each chunk the number of slots, its header and the slots; where the number has its
/// highest bit, what they are made of.
inline Bytes packed(const uint8_t *data, size_t size) {
  const size_t head = std::min(size, sizeof(gmt_file_header));
  Bytes file(kPage);
  put(file, data, head);
  file.resize(2 * kPage);
  static trace::Packer packer;
  for (size_t at = head; at + 2 + sizeof(gmt_chunk_header) <= size;) {
    gmt_packed_chunk chunk{GMT_PACKED_MAGIC, 0, 0, 0, {}};
    const size_t number = data[at] | data[at + 1] << 8, slots = number & 0x7fff;
    std::memcpy(&chunk.header, data + at + 2, sizeof chunk.header);
    at += 2 + sizeof chunk.header;
    chunk.slots = static_cast<uint32_t>(std::min<size_t>({slots, GMT_SLOTS_PER_CHUNK, (size - at) / GMT_SLOT_BYTES}));
    const size_t slot_bytes = size_t{chunk.slots} * GMT_SLOT_BYTES;
    const size_t bytes = number == slots ? slot_bytes : std::min(size - at, slot_bytes + GMT_SLOTS_PER_CHUNK);
    const auto *begin = reinterpret_cast<const std::byte *>(data + at);
    std::vector<std::byte> columns(begin, begin + bytes);
    if (number == slots) columns = trace::to_columns(columns);
    chunk.columns = static_cast<uint32_t>(columns.size());
    const auto frame = packer.pack(columns);
    chunk.bytes = static_cast<uint32_t>(frame.size());
    put(file, &chunk, sizeof chunk);
    put(file, frame.data(), frame.size());
    at += bytes;
  }
  const gmt_section log{GMT_SECTION_PACKED_LOG, 0, kPage, file.size() - kPage};
  const gmt_trace_header header{GMT_TRACE_MAGIC, GMT_TRACE_VERSION, 1, file.size(), 0};
  std::memcpy(file.data(), &header, sizeof header);
  put(file, &log, sizeof log);
  return file;
}

inline Bytes container_of(const uint8_t *data, size_t size) {
  if (size == 0) return {};
  switch (data[0] % kForms) {
    case kSparse:
      return from_sparse(data + 1, size - 1);
    case kUnpacked:
      return packed(data + 1, size - 1);
    default:
      return Bytes(data + 1, data + size);
  }
}

}  // namespace gmt::test
