#pragma once
// Writes the log of one process that is over, in one go and by one thread, into a saved trace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "trace/saved/packed_log.h"
#include "wire/layout.h"

namespace gmt::trace {

/// The bytes of a record's fixed part, or of a text.
template <class T>
std::span<const std::byte> part(const T &record) {
  return std::as_bytes(std::span(&record, 1));
}
inline std::span<const std::byte> part(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Times are nanoseconds since the process began, and never run back.
class LogBuilder {
 public:
  /// Begins a log section. `header`: what is known of the process; the rest is filled in.
  LogBuilder(TraceWriter &writer, const gmt_file_header &header)
      : packer_(writer), header_(header), chunk_(GMT_CHUNK_BYTES) {
    header_.magic = GMT_LOG_MAGIC;
    header_.version = GMT_LOG_VERSION;
    header_.header_bytes = GMT_FILE_HEADER_BYTES;
    header_.chunk_bytes = GMT_CHUNK_BYTES;
    header_.slot_bytes = GMT_SLOT_BYTES;
    header_.clock = GMT_CLOCK_MONOTONIC_NS;
    header_.start_ticks = header_.start_monotonic_ns = kStartNs;
    header_.next_sequence = 1;
    header_.ended = 1;
    header_.thread_count = 1;
  }

  /// A side record of these parts, one behind the other. It must fit into a chunk.
  void record(gmt_side_record_kind kind, std::initializer_list<std::span<const std::byte>> parts) {
    constexpr uint32_t kHead = offsetof(gmt_side_record, payload);
    uint32_t bytes = 0;
    for (const auto &part : parts) bytes += static_cast<uint32_t>(part.size());
    const auto slots = static_cast<uint16_t>((kHead + bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
    std::byte *place = reserve(slots);
    const gmt_side_record head{GMT_SIDE_RECORD_BIT, static_cast<uint8_t>(kind), 0, slots, bytes, {}};
    std::memcpy(place, &head, kHead);
    place += kHead;
    for (const auto &part : parts) {
      if (!part.empty()) std::memcpy(place, part.data(), part.size());
      place += part.size();
    }
  }
  /// An event of thread 0; `detail`: about it, or null.
  void event(uint64_t time_ns, uint8_t kind, uint8_t device, uint64_t address, uint64_t bytes, uint32_t stack,
             const gmt_driver_detail *detail = nullptr) {
    now_ns_ = std::max(now_ns_, time_ns);
    // A detail and a time base are about what follows them in their chunk: room for all of it is taken at once.
    constexpr uint32_t kMostSlots = 2 + 2 + 1;
    if (open_ && used_ + kMostSlots > GMT_SLOTS_PER_CHUNK) end_chunk();
    if (!open_) begin_chunk();
    if (now_ns_ - base_ns_ > UINT32_MAX) {
      base_ns_ = now_ns_;
      record(GMT_TIME_BASE, {part(gmt_time_base{kStartNs + base_ns_, kStartNs + base_ns_})});
    }
    if (detail) record(GMT_DRIVER_DETAIL, {part(*detail)});
    const gmt_event event{header_.next_sequence++ << 16, address,
                          gmt_size_field(bytes) << 16 | uint64_t{device} << 8 | kind, stack,
                          static_cast<uint32_t>(now_ns_ - base_ns_)};
    std::memcpy(reserve(1), &event, sizeof event);
  }
  void lose(gmt_loss cause, uint64_t count) { header_.lost[cause] += count; }
  void finish() {
    end_chunk();
    packer_.finish(header_);
  }

  /// The assumed CLOCK_MONOTONIC at the start: any number but 0.
  static constexpr uint64_t kStartNs = 1'000'000'000;

 private:
  std::byte *reserve(uint32_t slots) {
    if (open_ && used_ + slots > GMT_SLOTS_PER_CHUNK) end_chunk();
    if (!open_) begin_chunk();
    std::byte *place = chunk_.data() + GMT_CHUNK_HEADER_BYTES + size_t{used_} * GMT_SLOT_BYTES;
    used_ += slots;
    return place;
  }
  void begin_chunk() {
    std::fill(chunk_.begin(), chunk_.end(), std::byte{0});
    base_ns_ = now_ns_;
    gmt_chunk_header header{};
    header.magic = GMT_CHUNK_MAGIC;
    header.index = static_cast<uint32_t>(header_.chunks_reserved++);
    header.first_sequence = header_.next_sequence;
    header.base_ticks = header.monotonic_ns = kStartNs + base_ns_;
    std::memcpy(chunk_.data(), &header, sizeof header);
    used_ = 0;
    open_ = true;
  }
  void end_chunk() {
    if (!open_) return;
    open_ = false;
    if (used_ < GMT_SLOTS_PER_CHUNK) {
      gmt_side_record end{GMT_SIDE_RECORD_BIT, GMT_END_OF_CHUNK, 0, 1, 0, {}};
      std::memcpy(chunk_.data() + GMT_CHUNK_HEADER_BYTES + size_t{used_} * GMT_SLOT_BYTES, &end, sizeof end);
    }
    packer_.add(chunk_);
  }

  LogPacker packer_;
  gmt_file_header header_;
  std::vector<std::byte> chunk_;
  uint32_t used_ = 0;  ///< slots
  bool open_ = false;
  uint64_t now_ns_ = 0, base_ns_ = 0;
};

}  // namespace gmt::trace
