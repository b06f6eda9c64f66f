#pragma once
// A place in one chunk, and what holds there.
#include <cstdint>
#include <cstring>

#include "trace/log/log_file.h"
#include "wire/layout.h"

namespace gmt::trace {

struct Cursor {
  const std::byte *slots = nullptr;
  uint64_t chunk = 0;  ///< place in the log
  uint32_t at = 0;     ///< slot that is read next
  uint32_t end = 0;    ///< slots that lie in the file
  bool has_detail = false;
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;  ///< of the event read last, 0 = none
  uint64_t base_ns = 0;        ///< session time of the time base
  gmt_driver_detail detail{};

  /// All but the slots, which the log has.
  void checkpoint(Archive &a) { a(chunk, at, has_detail, first_sequence, last_sequence, base_ns, detail); }
  const std::byte *slot() const { return slots + static_cast<size_t>(at) * GMT_SLOT_BYTES; }
  const gmt_event &event() const { return *reinterpret_cast<const gmt_event *>(slot()); }
  /// First word of the slot; 0 = not written yet.
  uint64_t commit() const { return load_acquire(event().commit); }
};

}  // namespace gmt::trace
