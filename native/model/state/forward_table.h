#pragma once
// Which Python stack ran when a thread's autograd sequence stood where: bounded memory of one process.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

class ForwardTable {
 public:
  void checkpoint(Archive &a);
  /// The process keeps the newest entries of all its threads together up to this number.
  static constexpr size_t kEntries = 1u << 20;

  /// Threads beyond these take the place of the one that made a node longest ago: most have ended.
  static constexpr size_t kThreads = 1024;

  /// An allocation of `thread` (its number in the trace; `torch_thread` = torch's own id, 0 = unknown) in the forward
  /// role, when the next node was to get `sequence`. The first one with a sequence is kept: later ones belong to
  /// what ran after that node's operation.
  /// A thread whose nodes are recorded themselves needs no such hints: they are left out from its first node on.
  void note(uint32_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack) {
    if (sequence == 0 || sequence == GMT_SEQUENCE_ACCUMULATE) return;
    Thread &own = thread_of(thread, torch_thread);
    const bool known = own.has_nodes || (!own.entries.empty() && own.entries.back().sequence == sequence);
    if (!known) append(own, sequence, stack);
  }

  /// `thread` made the node `sequence` with this stack.
  void note_node(uint32_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack) {
    if (sequence >= GMT_SEQUENCE_ACCUMULATE - 1 || stack == 0) return;
    Thread &own = thread_of(thread, torch_thread);
    own.has_nodes = true;
    append(own, sequence + 1, stack);
  }

  /// The line of the node `sequence` that `torch_thread` made: Forward when an allocation of that very operation
  /// was seen, ForwardNear for the nearest earlier one, None without any.
  LineRef find(uint64_t torch_thread, uint64_t sequence) const {
    const Thread *thread = maker(torch_thread);
    if (!thread || sequence >= GMT_SEQUENCE_ACCUMULATE - 1) return {};
    const uint64_t target = sequence + 1;
    const auto after = std::ranges::upper_bound(thread->entries, target, {}, &Entry::sequence);
    if (after == thread->entries.begin()) return {};
    const Entry &entry = *std::prev(after);
    return {entry.stack, entry.sequence == target ? LineSource::Forward : LineSource::ForwardNear};
  }

 private:
  struct Entry {
    uint64_t sequence;
    uint32_t stack;
    void checkpoint(Archive &a) { a(sequence, stack); }
  };
  struct Thread {
    uint32_t number;
    uint64_t torch_thread;
    bool has_nodes;
    uint64_t used;              ///< of `uses_`, when it was used last
    std::deque<Entry> entries;  ///< sequences rise
    void checkpoint(Archive &a) { a(number, torch_thread, has_nodes, used, entries); }
  };
  Thread &thread_of(uint32_t number, uint64_t torch_thread) {
    const bool again = latest_ != kNone && threads_[latest_].number == number;
    if (!again) {
      const auto known = places_.find(number);
      latest_ = known != places_.end() ? known->second : make_thread(number, torch_thread);
    }
    Thread &own = threads_[latest_];
    own.used = ++uses_;
    if (torch_thread) own.torch_thread = torch_thread;
    return own;
  }
  uint32_t make_thread(uint32_t number, uint64_t torch_thread) {
    auto place = threads_.end();
    if (threads_.size() < kThreads) {
      place = threads_.emplace(place);
    } else {
      place = std::ranges::min_element(threads_, {}, &Thread::used);
      places_.erase(place->number);
      entries_ -= place->entries.size();
    }
    *place = {number, torch_thread, false, 0, {}};
    return places_[number] = static_cast<uint32_t>(place - threads_.begin());
  }
  void append(Thread &own, uint64_t sequence, uint32_t stack) {
    // A thread's numbers only rise; a lower one means that the counter began anew.
    while (!own.entries.empty() && own.entries.back().sequence >= sequence) {
      own.entries.pop_back();
      --entries_;
    }
    own.entries.push_back({sequence, stack});
    if (++entries_ > kEntries) make_room();
  }
  const Thread *maker(uint64_t torch_thread) const {
    const Thread *nameless = nullptr;
    for (const Thread &thread : threads_) {
      if (torch_thread && thread.torch_thread == torch_thread) return &thread;
      if (!thread.torch_thread) nameless = &thread;
    }
    if (torch_thread && !nameless) return nullptr;  // a thread that is known to be none of these
    if (torch_thread && threads_[latest_].torch_thread) return nameless;
    return latest_ == kNone ? nullptr : &threads_[latest_];
  }
  void make_room() {
    auto biggest = std::ranges::max_element(threads_, {}, [](const Thread &one) { return one.entries.size(); });
    biggest->entries.pop_front();
    --entries_;
  }

  std::vector<Thread> threads_;
  std::unordered_map<uint32_t, uint32_t> places_;  ///< in threads_, by number
  uint64_t uses_ = 0;
  size_t entries_ = 0;
  uint32_t latest_ = kNone;
};

}  // namespace gmt::model
