#pragma once
// Local records that the model takes: read from their bytes.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "trace/batch.h"
#include "trace/log/clock.h"
#include "trace/log/takers.gen.h"

namespace gmt::trace {

/// The fixed part of a record; the text of `bytes` behind it. Nothing where they do not lie in the payload.
template <class T>
std::optional<T> fixed_part(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(T)) return std::nullopt;
  T record;
  std::memcpy(&record, payload.data(), sizeof record);
  return record;
}
inline std::optional<std::string> text_behind(std::span<const std::byte> payload, size_t fixed, uint64_t bytes) {
  if (payload.size() < fixed || payload.size() - fixed < bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char *>(payload.data()) + fixed, bytes);
}

/// `read`: the sequence of the event that was read last.
inline std::optional<Name> name_of(std::span<const std::byte> payload, uint64_t read) {
  const auto record = fixed_part<gmt_name>(payload);
  if (!record) return std::nullopt;
  auto text = text_behind(payload, sizeof *record, record->text_bytes);
  if (!text) return std::nullopt;
  const uint64_t after = std::max(record->sequence, read);
  return Name{after, record->address, record->device, record->category, std::move(*text)};
}
inline std::optional<Memory> memory_of(std::span<const std::byte> payload, uint64_t read, const Clock &clock) {
  const auto record = fixed_part<gmt_memory>(payload);
  if (!record || record->device >= GMT_DEVICE_NONE) return std::nullopt;
  return Memory{read,
                clock.session_ns(record->ticks),
                record->process_bytes,
                record->used_bytes,
                record->total_bytes,
                static_cast<uint8_t>(record->device)};
}
inline std::optional<Allocator> allocator_of(std::span<const std::byte> payload, uint64_t read) {
  const auto record = fixed_part<gmt_allocator>(payload);
  if (!record || record->device >= GMT_DEVICE_NONE) return std::nullopt;
  const uint64_t after = std::max(record->sequence, read);
  return Allocator{after, record->allocated_bytes, record->active_bytes, static_cast<uint8_t>(record->device)};
}
/// A record that has no type of its own here.
inline std::optional<Said> said_of(uint8_t kind, std::span<const std::byte> payload, uint64_t read) {
  const RecordRow row = record_row(kind);
  if (payload.size() < row.bytes) return std::nullopt;
  uint32_t device = 0;
  if (row.device >= 0) std::memcpy(&device, payload.data() + row.device, sizeof device);
  if (device >= GMT_DEVICE_NONE) return std::nullopt;
  uint64_t sequence = 0;
  if (row.sequence >= 0) std::memcpy(&sequence, payload.data() + row.sequence, sizeof sequence);
  return Said{std::max(sequence, read), kind, {reinterpret_cast<const char *>(payload.data()), payload.size()}};
}
inline std::optional<AnswerPart> answer_part_of(std::span<const std::byte> payload, uint64_t read) {
  const auto record = fixed_part<gmt_answer>(payload);
  if (!record || record->part >= record->parts) return std::nullopt;
  auto text = text_behind(payload, sizeof *record, record->text_bytes);
  if (!text) return std::nullopt;
  const uint64_t after = std::max(record->sequence, read);
  return AnswerPart{after, record->request, record->part, record->parts, std::move(*text)};
}

}  // namespace gmt::trace
