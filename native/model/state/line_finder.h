#pragma once
// Finds the Python line of an allocation: its own stack, or, on autograd's threads, the line that made the node.
#include <vector>

#include "model/state/forward_table.h"
#include "trace/batch.h"

namespace gmt::model {

class LineFinder {
 public:
  void checkpoint(Archive &a) { a(forward_, engines_, makers_, nodes_, backward_call_); }
  /// The line of `event`, an allocation; `state` is what autograd did on its thread, nullptr = nothing.
  LineRef find(const trace::Event &event, const gmt_autograd *state) {
    if (event.stack) {
      if (state && state->role == GMT_AUTOGRAD_FORWARD) {
        forward_.note(event.thread, state->thread, state->sequence, event.stack);
      }
      return {event.stack, LineSource::Python};
    }
    if (!state || state->role != GMT_AUTOGRAD_BACKWARD) return {};
    if (event.thread >= engines_.size()) engines_.resize(event.thread + 1u);
    return backward_line(engines_[event.thread], *state);
  }

  /// From the thread's next event on. `add_node` comes earlier: a backward event may name a node of another thread.
  void set_newest_node(const trace::Node &node) {
    if (node.thread >= makers_.size()) makers_.resize(node.thread + 1u);
    makers_[node.thread] = node.node.stack;
    ++nodes_;
  }

  /// `event`, an allocation, belongs to the operation that left the thread's newest node in autograd's graph: both have one stack.
  bool in_graph(const trace::Event &event) const {
    return event.stack && event.thread < makers_.size() && makers_[event.thread] == event.stack;
  }

  uint64_t nodes() const { return nodes_; }
  /// Autograd's engine has run nodes on it.
  bool is_engine(uint32_t thread) const { return thread < engines_.size() && engines_[thread].line.stack; }

  /// An autograd node was made: its number and the stack that made it.
  void add_node(const trace::Node &node) {
    forward_.note_node(node.thread, node.node.thread, node.node.sequence, node.node.stack);
  }

  /// A stack inside `backward()` or `grad()` was seen.
  void set_backward_call(uint32_t stack) { backward_call_ = stack; }

 private:
  struct EngineThread {
    uint64_t sequence = 0;
    uint64_t torch_thread = 0;
    bool known = false;  ///< sequence and torch_thread name the node that `line` was found for
    LineRef line;        ///< of the node that ran last
    void checkpoint(Archive &a) { a(sequence, torch_thread, known, line); }
  };
  LineRef backward_line(EngineThread &engine, const gmt_autograd &state) {
    if (state.sequence != GMT_SEQUENCE_ACCUMULATE) {
      const bool same = engine.known && engine.sequence == state.sequence && engine.torch_thread == state.thread;
      if (same) return engine.line;
      const LineRef line = forward_.find(state.thread, state.sequence);
      if (line.stack) {
        engine = {state.sequence, state.thread, true, line};
        return line;
      }
    }
    engine.known = false;
    if (engine.line.stack) return {engine.line.stack, LineSource::ForwardNear};
    if (backward_call_) return {backward_call_, LineSource::BackwardCall};
    return {};
  }

  ForwardTable forward_;
  std::vector<EngineThread> engines_;  ///< by thread index
  std::vector<uint32_t> makers_;       ///< by thread index: stack of the newest node
  uint64_t nodes_ = 0;                 ///< that came so far
  uint32_t backward_call_ = 0;
};

}  // namespace gmt::model
