#pragma once
// Events as the model takes them: decoded, in the order of their sequence, one process at a time.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "trace/archive.h"
#include "wire/layout.h"

namespace gmt::trace {

struct Event {
  uint64_t sequence;
  uint64_t time_ns;  ///< since the session's first process began
  uint64_t address;
  uint64_t bytes;
  uint32_t stack;     ///< stack id of the process, 0 = none
  uint16_t detail;    ///< 1 + index into Batch::details, 0 = none
  uint16_t autograd;  ///< 1 + index into Batch::autograds: what held for this thread then, 0 = none
  uint32_t thread;    ///< number of the thread in its process
  uint8_t device;     ///< GMT_DEVICE_NONE = none or host
  uint8_t kind;       ///< enum gmt_kind, | GMT_FAILED
};
static_assert(sizeof(Event) == 48);

/// An autograd node that was made, and by which thread.
struct Node {
  gmt_node node;
  uint32_t thread;  ///< number of the thread in its process
  uint32_t place;   ///< in Batch::events: it was made before the events of its thread from there on
};

/// What follows is no event; it holds from behind the event `after`, which may be in a later batch.

/// A name and a category for the block that is at an address then.
struct Name {
  uint64_t after;
  uint64_t address;
  uint8_t device;
  uint8_t category;  ///< enum gmt_category
  std::string text;
  void checkpoint(Archive &a) { a(after, address, device, category, text); }
};

/// Device memory by the device's own account.
struct Memory {
  uint64_t after;
  uint64_t time_ns;
  uint64_t process_bytes;  ///< ~0 = unknown
  uint64_t used_bytes;
  uint64_t total_bytes;
  uint8_t device;
  void checkpoint(Archive &a) { a(after, time_ns, process_bytes, used_bytes, total_bytes, device); }
};

/// A part of an answer of the agent.
struct AnswerPart {
  uint64_t after;
  uint32_t request;
  uint16_t part;
  uint16_t parts;
  std::string text;
  void checkpoint(Archive &a) { a(after, request, part, parts, text); }
};

/// A framework allocator's own counters of a device.
struct Allocator {
  uint64_t after;
  uint64_t allocated_bytes;
  uint64_t active_bytes;
  uint8_t device;
  void checkpoint(Archive &a) { a(after, allocated_bytes, active_bytes, device); }
};

/// A range that begins or ends; it has a time of its own, and waits for no event.
struct Range {
  uint64_t time_ns;
  uint32_t thread;   ///< number of the thread in its process
  uint32_t key;      ///< gmt_range.key
  std::string name;  ///< empty: it ends
};

/// Any other record that the model consumes.
struct ModelRecord {
  uint64_t after;
  uint8_t kind;         ///< enum gmt_side_record_kind
  std::string payload;  ///< its struct, and what follows it
  template <typename Payload>
  Payload as() const {
    Payload record{};
    std::memcpy(&record, payload.data(), std::min(sizeof record, payload.size()));
    return record;
  }
  void checkpoint(Archive &a) { a(after, kind, payload); }
};

struct Records {
  std::span<const Name> names;
  std::span<const Memory> memories;
  std::span<const AnswerPart> answers;
  std::span<const Allocator> allocators = {};
  std::span<const ModelRecord> others = {};
  std::span<const Range> ranges = {};
};

struct Batch {
  uint32_t process;  ///< index of the process in the session
  std::span<const Event> events;
  std::span<const gmt_driver_detail> details;
  std::span<const gmt_autograd> autograds;
  /// Made since the last batch: the node that an event names is in its own batch or an earlier one, which may have no events.
  std::span<const Node> nodes = {};
  Records records = {};
};

}  // namespace gmt::trace
