#include "model/ingest/step_events.h"

#include <algorithm>

namespace gmt::model {
namespace {

void end_slices(State &all, ProcessState &process, uint64_t time_ns) {
  ProcessSteps &steps = process.steps;
  constexpr uint64_t kSlice = ProcessSteps::kSliceNs;
  if (time_ns < steps.next_slice_ns) return;
  const uint64_t due = steps.next_slice_ns;
  steps.next_slice_ns = (time_ns / kSlice + 1) * kSlice;
  if (due == 0) {
    steps.begin_ns = time_ns;
  } else if (steps.source == StepSource::Time) {
    end_step(all, process, due, false);
    const auto idle = static_cast<uint32_t>(std::min<uint64_t>((time_ns - due) / kSlice, StepFrame::kMostSteps));
    if (idle > 0) process.frame->next_step(idle);
  }
}

/// Before the first mark, everything was of the step that it ends.
void begin_counting_marks(const Context &context) {
  ProcessState &process = context.process;
  process.steps.source = StepSource::Optimizer;
  process.steps.next_slice_ns = ~0ull;
  process.set_next_due();
  process.steps.anchor = {};
  process.steps.most_silent = ~0u;
  process.frame->finder = nullptr;
  process.steps.restart_in_first_step();
  for (auto &[device, memory] : process.devices) memory.restart_in_first_step();
  process.frame->restart();
  context.accounts().restart_in_first_step(process.number);
  set_steps_of_blocks(context, [](uint64_t) { return 1u; });
}

}  // namespace

void end_training_step(const Context &context) {
  if (context.process.steps.source != StepSource::Optimizer) begin_counting_marks(context);
  end_step(context.all, context.process, context.event.time_ns, false);
  context.process.passes.begin(Pass::Other, context.event.time_ns);
}

void handle_collection(const Context &context) {
  ProcessState &process = context.process;
  const trace::Event &event = context.event;
  if (event.kind == GMT_GC_END) {
    if (process.frame->gc_thread == event.thread) process.frame->gc_thread = kNone;
    return;
  }
  constexpr uint64_t kOldestGeneration = 2;
  const bool full = event.address >= kOldestGeneration;
  process.frame->gc_thread = event.thread;
  process.steps.collection(full);
  if (!process.frame->finder) return;
  const auto kind = full ? StepEntry::FullCollection : StepEntry::Collection;
  process.frame->finder->note({event.time_ns, 0, 0, 0, kind, 0, false});
}

void advance_time(State &all, ProcessState &process, uint64_t time_ns) {
  process.records.release_memories(time_ns, [&](const trace::Memory &memory) {
    end_slices(all, process, memory.time_ns);
    const int64_t traced = all.accounts.live_bytes(process.number, Layer::Driver, memory.device);
    process.devices[memory.device].set_memory(memory, traced);
  });
  end_slices(all, process, time_ns);
  process.set_next_due();
}

void end_step(State &all, ProcessState &process, uint64_t time_ns, bool again) {
  const uint32_t step = process.frame->step;
  process.steps.end(step, time_ns, process.frame->ended.size());
  all.accounts.end_step(process.number);
  for (auto &[device, memory] : process.devices) memory.end_step(step, again);
  process.frame->next_step();
}

void flag_step(ProcessState &process, uint8_t flags, uint64_t time_ns) {
  process.steps.flag(flags);
  if (process.frame->finder) process.frame->finder->note({time_ns, 0, flags, 0, StepEntry::Flags, 0, false});
}

void set_lasting_flag(const Context &context, uint8_t flag, bool on) {
  uint8_t &lasting = context.process.steps.lasting_flags;
  lasting = static_cast<uint8_t>(on ? lasting | flag : lasting & ~flag);
  if (on) flag_step(context.process, flag, context.event.time_ns);
}

}  // namespace gmt::model
