#include "model/ingest/ingest.h"

#include <array>

#include "model/ingest/events.h"
#include "model/ingest/step_events.h"
#include "model/state/accounts.h"
#include "model/state/tensor_table.h"

namespace gmt::model {
namespace {

// Memory is slower than the work on an event. What later tensor events will touch is prefetched in steps, kStep events
// apart: the place in the table and the cell's key, then the cell, then the site and what its first event of a step needs.
class Prefetch {
 public:
  Prefetch(const TensorTable &table, const Accounts &accounts) : table_(table), accounts_(accounts) {}

  /// Event `at` comes next; `step` runs.
  void before_event(const trace::Batch &batch, size_t at, uint32_t step) {
    const auto &events = batch.events;
    if (at + 3 * kStep < events.size()) prefetch_entry(batch.process, events[at + 3 * kStep]);
    Coming &slot = coming_[at % kStep];
    // What was found kStep calls ago belongs to the event that is kStep away now.
    if (slot.cell != kNone) accounts_.prefetch_site(slot.cell);
    Coming &near = near_[at % kNear];
    if (near.cell != kNone) accounts_.prefetch_history(near.cell, near.old);
    near = slot;
    slot = at + 2 * kStep < events.size() ? find(batch.process, events[at + 2 * kStep], step) : Coming{};
    if (slot.cell != kNone) accounts_.prefetch_cell(slot.cell);
  }

 private:
  static constexpr size_t kStep = 8;
  static constexpr size_t kNear = 4;  ///< calls between a site and its history

  static LineRef own_line(const trace::Event &event) {
    return {event.stack, event.stack ? LineSource::Python : LineSource::None};
  }
  void prefetch_entry(uint32_t process, const trace::Event &event) const {
    if (event.kind > GMT_TENSOR_FREE) return;
    table_.prefetch(event.address);
    if (event.kind != GMT_TENSOR_ALLOC) return;
    accounts_.prefetch_key(process, Layer::Tensor, event.device, event.thread, own_line(event));
  }
  struct Coming {
    uint32_t cell = kNone;
    bool old = false;  ///< the block was there before the last step
  };
  Coming find(uint32_t process, const trace::Event &event, uint32_t step) const {
    if (event.kind == GMT_TENSOR_FREE) {
      const TensorBlock *block = table_.guess(event.address);
      return block ? Coming{block->cell, block->step + 1 < step} : Coming{};
    }
    if (event.kind != GMT_TENSOR_ALLOC) return {};
    return {accounts_.guess_cell(process, Layer::Tensor, event.device, event.thread, own_line(event)), false};
  }

  const TensorTable &table_;
  const Accounts &accounts_;
  std::array<Coming, kStep> coming_{};
  std::array<Coming, kNear> near_{};
};

constexpr size_t kIntervals = 4096;  ///< that are kept of a kind

void begin_interval(std::vector<Interval> &list, const Context &context) {
  if (!list.empty() && list.back().end_ns == ~0ull) return;
  if (list.size() == kIntervals) {
    ++context.process.uncounted_intervals;
    return;
  }
  list.push_back({context.event.time_ns, ~0ull});
}

void end_interval(std::vector<Interval> &list, const Context &context) {
  if (list.empty() || list.back().end_ns != ~0ull) return;
  list.back().end_ns = context.event.time_ns;
}

void set_recording(const Context &context, bool on) {
  context.process.recording = on;
  on && !context.process.pauses.empty() ? context.process.waking.begin() : context.process.waking.end();
  set_lasting_flag(context, kStepPaused, !on);
  on ? end_interval(context.process.pauses, context) : begin_interval(context.process.pauses, context);
}

void set_gap(const Context &context, bool on) {
  set_lasting_flag(context, kStepDriverGap, on);
  on ? begin_interval(context.process.gaps, context) : end_interval(context.process.gaps, context);
}

void handle_mark(const Context &context) {
  switch (context.event.kind) {
    case GMT_RECORDING_STOP:
    case GMT_RECORDING_START:
      return set_recording(context, context.event.kind == GMT_RECORDING_START);
    case GMT_GAP_BEGIN:
    case GMT_GAP_END:
      return set_gap(context, context.event.kind == GMT_GAP_BEGIN);
    case GMT_STEP:
      return end_training_step(context);
    case GMT_GC_BEGIN:
    case GMT_GC_END:
      return handle_collection(context);
    case GMT_PYTHON_ENDING:
      return context.process.steps.leave(context.event.time_ns, context.event.address);
    case GMT_PROCESS_ENDING:
      end_last_round(context);
      context.process.ending = true;
      return;
    default:
      return;
  }
}

void handle(const Context &context) {
  const uint8_t kind = context.event.kind;
  if (kind == GMT_TENSOR_ALLOC) return allocate_tensor(context);
  if (kind == GMT_TENSOR_FREE) return free_tensor(context);
  if (kind & GMT_FAILED || kind == GMT_TENSOR_OOM) return handle_failure(context);
  if (kind == GMT_RESERVED) return set_reserved(context);
  constexpr uint8_t kFirstMark = 64;
  if (kind >= kFirstMark) return handle_mark(context);
  handle_driver_event(context);
}

/// What is not for every event: time has passed, events are missing, something waited for this one.
void handle_unusual(State &all, ProcessState &process, const trace::Event &event, LifetimeLog *lifetimes) {
  if (event.sequence != process.next_sequence) flag_step(process, kStepLostEvents, event.time_ns);
  if (event.sequence > process.records.next()) apply_records(all, process, event.sequence, lifetimes);
  if (event.time_ns >= process.next_due_ns) advance_time(all, process, event.time_ns);
}

}  // namespace

void ingest(State &all, const trace::Batch &batch, LifetimeLog *lifetimes) {
  ProcessState &process = all.process_of(batch.process);
  all.accounts.enter(batch.process);
  process.records.add(batch.records);
  for (const trace::Range &range : batch.records.ranges) process.ranges.add(range);
  process.set_next_due();
  for (const trace::Node &node : batch.nodes) process.lines.add_node(node);
  const size_t count = batch.events.size();
  auto node = batch.nodes.begin();
  Prefetch prefetch(process.tensors, all.accounts);
  for (size_t i = 0; i < count; ++i) {
    if (process.ending) {
      process.events_after_ending += count - i;
      process.next_sequence = batch.events.back().sequence + 1;  // a report of the end still counts
      break;
    }
    for (; node != batch.nodes.end() && node->place <= i; ++node) process.lines.set_newest_node(*node);
    prefetch.before_event(batch, i, process.frame->step);
    const trace::Event &event = batch.events[i];
    const bool usual = event.sequence == process.next_sequence && event.sequence <= process.records.next() &&
                       event.time_ns < process.next_due_ns;
    if (!usual) handle_unusual(all, process, event, lifetimes);
    process.next_sequence = event.sequence + 1;
    const bool has_autograd = event.autograd != 0 && event.autograd <= batch.autograds.size();
    handle({all, process, batch, event, detail_of(batch, event),
            has_autograd ? &batch.autograds[event.autograd - 1] : nullptr, lifetimes});
    if (event.time_ns > all.now_ns) all.now_ns = event.time_ns;
  }
  for (; node != batch.nodes.end(); ++node) process.lines.set_newest_node(*node);
  apply_records(all, process, process.next_sequence, lifetimes);
  all.accounts.reach_time(all.now_ns);
  all.events += count;
  ++all.revision;
}

}  // namespace gmt::model
