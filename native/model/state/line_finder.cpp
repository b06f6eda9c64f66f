#include "model/state/line_finder.h"

namespace gmt::model {

LineRef LineFinder::find(const trace::Event &event, const gmt_autograd *state) {
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

void LineFinder::add_node(const trace::Node &node) {
  forward_.note_node(node.thread, node.node.thread, node.node.sequence, node.node.stack);
}

LineRef LineFinder::backward_line(EngineThread &engine, const gmt_autograd &state) {
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

}  // namespace gmt::model
