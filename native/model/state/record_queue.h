#pragma once
// Records that hold from behind an event that has not been taken yet.
#include <cstdint>
#include <map>
#include <variant>

#include "trace/batch.h"

namespace gmt::model {

class RecordQueue {
 public:
  using Record = std::variant<trace::Name, trace::AnswerPart, trace::Allocator, trace::ModelRecord>;
  /// More than this wait only where a log is damaged: the ones furthest away are dropped.
  static constexpr size_t kWaiting = 1u << 18;

  /// A record waits for an event behind this sequence; ~0 = none waits.
  uint64_t next() const { return next_; }

  void checkpoint(trace::Archive &a) {
    a(waiting_, memories_);
    set_next();
  }
  void add(const trace::Records &records) {
    for (const trace::Name &name : records.names) add(name.after, name);
    for (const trace::Memory &memory : records.memories) {
      if (memories_.size() < kWaiting) memories_.emplace(memory.time_ns, memory);
    }
    for (const trace::AnswerPart &part : records.answers) add(part.after, part);
    for (const trace::Allocator &allocator : records.allocators) add(allocator.after, allocator);
    for (const trace::ModelRecord &other : records.others) add(other.after, other);
    set_next();
  }
  /// Calls `take(record)` for those that hold from behind an event before `sequence`, in order.
  template <typename Apply>
  void release(uint64_t sequence, Apply apply) {
    while (!waiting_.empty() && waiting_.begin()->first < sequence) {
      apply(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    set_next();
  }

  /// Device memory has a time instead; ~0 = none waits.
  uint64_t next_memory_ns() const { return memories_.empty() ? ~0ull : memories_.begin()->first; }
  template <typename Apply>
  void release_memories(uint64_t up_to_ns, Apply apply) {
    while (next_memory_ns() <= up_to_ns) {
      apply(memories_.begin()->second);
      memories_.erase(memories_.begin());
    }
  }

 private:
  void add(uint64_t after, Record record) {
    waiting_.emplace(after, std::move(record));
    if (waiting_.size() > kWaiting) waiting_.erase(std::prev(waiting_.end()));
  }
  void set_next() { next_ = waiting_.empty() ? ~0ull : waiting_.begin()->first; }

  std::multimap<uint64_t, Record> waiting_;
  std::multimap<uint64_t, trace::Memory> memories_;
  uint64_t next_ = ~0ull;
};

}  // namespace gmt::model
