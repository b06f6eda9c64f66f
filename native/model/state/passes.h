#pragma once
// What a process did when: its forward passes, backward passes and optimizer steps, recognized by the stacks of its tensors' allocations.
#include <cstdint>
#include <deque>

#include "model/state/types.h"

namespace gmt::model {

/// From `begin_ns` until the next one begins.
struct PassBegin {
  uint64_t begin_ns;
  Pass pass;
  void checkpoint(Archive &a) { a(begin_ns, pass); }
};

class Passes {
 public:
  /// So many are kept, the newest: some hundred steps.
  static constexpr size_t kMostBegins = 4096;

  /// An allocation was made in `pass`, after so many nodes of autograd's graph; `in_graph`: by what made the last of them. A forward pass
  /// makes some, but in an evaluation, where the process makes any at all.
  void record(Pass pass, uint64_t nodes, bool in_graph, uint64_t time_ns) {
    in_graph |= nodes != nodes_;
    nodes_ = nodes;
    if (pass == Pass::Other && in_graph) pass = Pass::Forward;
    if (pass == Pass::Forward && !in_graph && nodes > 0 && last() != Pass::Forward) pass = Pass::Evaluation;
    if (pass == last()) return;
    if (pass == Pass::Forward && last() == Pass::Evaluation)
      begins_.back().pass = pass;
    else
      begin(pass, time_ns);
  }
  void begin(Pass pass, uint64_t time_ns) {
    if (pass == last()) return;
    begins_.push_back({time_ns, pass});
    if (begins_.size() > kMostBegins) begins_.pop_front();
  }
  /// The loop was over then: a pass that had begun is too.
  void end(uint64_t time_ns) {
    if (last() != Pass::Other && begins_.back().begin_ns < time_ns) begin(Pass::Other, time_ns);
  }
  const std::deque<PassBegin> &begins() const { return begins_; }

  void checkpoint(Archive &a) {
    a(begins_, nodes_);
    a.hold(begins_.size() <= kMostBegins);
  }

 private:
  Pass last() const { return begins_.empty() ? Pass::Other : begins_.back().pass; }
  uint64_t nodes_ = 0;            ///< when the last allocation came
  std::deque<PassBegin> begins_;  ///< times rise, no two neighbours are equal
};

}  // namespace gmt::model
