#pragma once
// Side records that the model consumes, decoded from their bytes.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "trace/batch.h"
#include "trace/log/consumers.gen.h"
#include "trace/log/session_clock.h"

namespace gmt::trace {

using Payload = std::span<const std::byte>;

/// Takes a fixed part from the front of a payload. False: it is shorter.
template <class T>
bool read_record(Payload &payload, T *record) {
  if (payload.size() < sizeof(T)) return false;
  std::memcpy(record, payload.data(), sizeof(T));
  payload = payload.subspan(sizeof(T));
  return true;
}
/// The same of a text.
inline bool read_text(Payload &payload, uint64_t bytes, std::string *text) {
  if (payload.size() < bytes) return false;
  text->assign(reinterpret_cast<const char *>(payload.data()), bytes);
  payload = payload.subspan(bytes);
  return true;
}

/// The result of `use` on a record; true if it returns nothing.
template <class Use, class... Read>
bool used(Use use, Read &&...read) {
  if constexpr (std::is_void_v<decltype(use(std::forward<Read>(read)...))>)
    return use(std::forward<Read>(read)...), true;
  else
    return use(std::forward<Read>(read)...);
}
/// Gives a record of fixed size to `use`. False: it is damaged.
template <class Record, class Use>
bool with(Payload payload, Use use) {
  Record record;
  return read_record(payload, &record) && used(use, record);
}
/// The same of one with a text of so many bytes behind it.
template <class Record, class Bytes, class Use>
bool with_text(Payload payload, Bytes Record::*bytes, Use use) {
  Record record;
  std::string text;
  return read_record(payload, &record) && read_text(payload, record.*bytes, &text) &&
         used(use, record, std::move(text));
}

/// Nothing where the record is damaged. `read`: the sequence of the event that was read last.
inline std::optional<Name> name_of(Payload payload, uint64_t read) {
  gmt_name record;
  std::string text;
  if (!read_record(payload, &record) || !read_text(payload, record.text_bytes, &text)) return std::nullopt;
  return Name{std::max(record.sequence, read), record.address, record.device, record.category, std::move(text)};
}
inline std::optional<Memory> memory_of(Payload payload, uint64_t read, const Clock &clock) {
  gmt_memory record;
  if (!read_record(payload, &record) || record.device >= GMT_DEVICE_NONE) return std::nullopt;
  return Memory{read,
                clock.session_ns(record.ticks),
                record.process_bytes,
                record.used_bytes,
                record.total_bytes,
                static_cast<uint8_t>(record.device)};
}
inline std::optional<Allocator> allocator_of(Payload payload, uint64_t read) {
  gmt_allocator record;
  if (!read_record(payload, &record) || record.device >= GMT_DEVICE_NONE) return std::nullopt;
  return Allocator{std::max(record.sequence, read), record.allocated_bytes, record.active_bytes,
                   static_cast<uint8_t>(record.device)};
}
inline std::optional<Range> range_of(Payload payload, uint32_t thread, const Clock &clock) {
  gmt_range record;
  std::string name;
  if (!read_record(payload, &record) || !read_text(payload, record.text_bytes, &name)) return std::nullopt;
  return Range{clock.session_ns(record.ticks), thread, record.key, std::move(name)};
}
/// A record that has no type of its own here.
inline std::optional<ModelRecord> model_record_of(uint8_t kind, Payload payload, uint64_t read) {
  const RecordRow row = record_row(kind);
  if (payload.size() < row.bytes) return std::nullopt;
  uint32_t device = 0;
  if (row.device >= 0) std::memcpy(&device, payload.data() + row.device, sizeof device);
  if (device >= GMT_DEVICE_NONE) return std::nullopt;
  uint64_t sequence = 0;
  if (row.sequence >= 0) std::memcpy(&sequence, payload.data() + row.sequence, sizeof sequence);
  return ModelRecord{std::max(sequence, read), kind, {reinterpret_cast<const char *>(payload.data()), payload.size()}};
}
inline std::optional<AnswerPart> answer_part_of(Payload payload, uint64_t read) {
  gmt_answer record;
  std::string text;
  if (!read_record(payload, &record) || record.part >= record.parts) return std::nullopt;
  if (!read_text(payload, record.text_bytes, &text)) return std::nullopt;
  return AnswerPart{std::max(record.sequence, read), record.request, record.part, record.parts, std::move(text)};
}

}  // namespace gmt::trace
