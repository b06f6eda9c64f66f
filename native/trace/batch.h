#pragma once
// Events as the model takes them: decoded, in the order of their sequence, one process at a time.
#include <cstdint>
#include <span>

#include "wire/layout.h"

namespace gmt::trace {

struct Event {
  uint64_t sequence;
  uint64_t time_ns;  ///< since the session's first process began
  uint64_t address;
  uint64_t bytes;
  uint32_t stack;     ///< stack id of the process, 0 = none
  uint32_t detail;    ///< 1 + index into Batch::details, 0 = none
  uint32_t autograd;  ///< 1 + index into Batch::autograds: what held for this thread then, 0 = none
  uint16_t thread;    ///< thread index of the process
  uint8_t device;     ///< GMT_DEVICE_NONE = none or host
  uint8_t kind;       ///< enum gmt_kind, | GMT_FAILED
};
static_assert(sizeof(Event) == 48);

struct Batch {
  uint32_t process;  ///< index of the process in the session
  std::span<const Event> events;
  std::span<const gmt_driver_detail> details;
  std::span<const gmt_autograd> autograds;
};

}  // namespace gmt::trace
