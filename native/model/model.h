#pragma once
// The analysis of every event: what is alive, what holds it, since when. Deterministic: no clock, no I/O. Not for two
// threads at once. Questions are in query/questions.h.
#include "model/ingest/ingest.h"
#include "model/ingest/late_names.h"
#include "model/ingest/lifetimes.h"
#include "model/state/state.h"

namespace gmt::model {

class Model {
 public:
  /// `names` outlives the model.
  explicit Model(const Names &names) : state_(names) {}

  /// Takes one process's next events. Batches of one process come in the order of their sequences.
  void ingest(const trace::Batch &batch) { model::ingest(state_, batch, lifetimes_); }

  /// Keeps all of it, or reads it into a model that is new; then what has been read counts only if it is good().
  void checkpoint(Archive &a) { state_.checkpoint(a); }

  /// What the events have made.
  const State &state() const { return state_; }
  /// The same for questions: sites whose stacks were not known when they were made are settled as far as they are by now.
  const State &settled() {
    state_.accounts.resolve_pending();
    return state_;
  }

  /// What blocks that are alive here were named later in the same trace.
  void add_names(const std::vector<LateName> &names) { model::add_names(state_, names); }

  /// The ledgers' windows count what is allocated from then on; no event so far is as late.
  void begin_windows(uint64_t from_ns) { state_.accounts.begin_windows(from_ns); }

  /// From now on every allocation that ends is reported; `log` outlives the model. To be called before the first event.
  void log_lifetimes(LifetimeLog *log) { lifetimes_ = log; }
  /// No more events come: live allocations are reported as well.
  void finish_lifetimes() { lifetimes_->finish(state_); }

 private:
  State state_;
  LifetimeLog *lifetimes_ = nullptr;
};

}  // namespace gmt::model
