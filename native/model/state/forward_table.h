#pragma once
// Which Python stack ran when a thread's autograd sequence stood where: bounded memory of one process.
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
  void note(uint32_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack);

  /// `thread` made the node `sequence` with this stack.
  void note_node(uint32_t thread, uint64_t torch_thread, uint64_t sequence, uint32_t stack);

  /// The line of the node `sequence` that `torch_thread` made: Forward when an allocation of that very operation
  /// was seen, ForwardNear for the nearest earlier one, None without any.
  LineRef find(uint64_t torch_thread, uint64_t sequence) const;

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
  Thread &thread_of(uint32_t number, uint64_t torch_thread);
  uint32_t make_thread(uint32_t number, uint64_t torch_thread);
  void append(Thread &thread, uint64_t sequence, uint32_t stack);
  const Thread *maker(uint64_t torch_thread) const;
  void make_room();

  std::vector<Thread> threads_;
  std::unordered_map<uint32_t, uint32_t> places_;  ///< in threads_, by number
  uint64_t uses_ = 0;
  size_t entries_ = 0;
  uint32_t latest_ = kNone;
};

}  // namespace gmt::model
