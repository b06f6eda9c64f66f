#pragma once
// Writes the log of one process that is over, in one go and by one thread, into a saved trace.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "trace/saved/packed_log.h"
#include "wire/layout.h"

namespace gmt::trace {

/// Times are nanoseconds since the process began, and never run back.
class LogBuilder {
 public:
  /// Begins a log section. `header`: what is known of the process; the rest is filled in.
  LogBuilder(TraceWriter &writer, const gmt_file_header &header);

  /// A local record of these parts, one behind the other. It must fit into a chunk.
  void record(gmt_local_kind kind, std::initializer_list<std::span<const std::byte>> parts);
  /// An event of thread 0; `detail`: about it, or null.
  void event(uint64_t time_ns, uint8_t kind, uint8_t device, uint64_t address, uint64_t bytes, uint32_t stack,
             const gmt_driver_detail *detail = nullptr);
  void lose(gmt_loss cause, uint64_t count) { header_.lost[cause] += count; }
  /// Writes what is left.
  void finish();

  /// What CLOCK_MONOTONIC is said to have been at the start: any number but 0.
  static constexpr uint64_t kStartNs = 1'000'000'000;

 private:
  std::byte *reserve(uint32_t slots);
  void begin_chunk();
  void end_chunk();

  LogPacker packer_;
  gmt_file_header header_;
  std::vector<std::byte> chunk_;
  uint32_t used_ = 0;  ///< slots
  bool open_ = false;
  uint64_t now_ns_ = 0, base_ns_ = 0;
};

/// The bytes of a record's fixed part, or of a text.
template <class T>
std::span<const std::byte> part(const T &record) {
  return std::as_bytes(std::span(&record, 1));
}
inline std::span<const std::byte> part(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace gmt::trace
