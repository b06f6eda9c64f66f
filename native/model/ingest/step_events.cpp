// Steps: by the optimizer's marks, by a line that begins each round of a loop, by time.
#include <algorithm>
#include <set>

#include "model/model.h"

namespace gmt::model {

/// What is not for every event: time has passed, events are missing, something waited for this one.
void Model::attend(uint32_t process, ProcessState &state, const trace::Event &event) {
  if (event.sequence != state.next_sequence) flag_step(state, kStepLostEvents, event.time_ns);
  if (event.sequence > state.records.next()) apply_records(process, state, event.sequence);
  if (event.time_ns >= state.next_look_ns) look_at_time(process, state, event.time_ns);
}

void Model::look_at_time(uint32_t process, ProcessState &state, uint64_t time_ns) {
  state.records.release_memories(time_ns, [&](const trace::Memory &memory) {
    end_slices(process, state, memory.time_ns);
    state.devices[memory.device].set_memory(memory);
  });
  end_slices(process, state, time_ns);
  state.set_next_look();
}

void Model::end_slices(uint32_t process, ProcessState &state, uint64_t time_ns) {
  ProcessSteps &steps = state.steps;
  constexpr uint64_t kSlice = ProcessSteps::kSliceNs;
  if (time_ns < steps.next_slice_ns) return;
  const uint64_t due = steps.next_slice_ns;
  steps.next_slice_ns = (time_ns / kSlice + 1) * kSlice;
  if (due == 0) {
    steps.begin_ns = time_ns;
  } else if (steps.source == StepSource::Time) {
    end_step(process, state, due, false);
    const auto idle = static_cast<uint32_t>(std::min<uint64_t>((time_ns - due) / kSlice, StepFrame::kMostSteps));
    if (idle > 0) state.frame->next_step(idle);
  }
}

/// The loop has gone on for long without a new round: perhaps it is over.
void Model::find_loop_anew(ProcessState &state) {
  if (state.steps.finder) return;
  state.steps.finder = std::make_unique<LoopFinder>();
  state.frame->finder = state.steps.finder.get();
}

void Model::drop_finder(ProcessState &state) {
  state.steps.finder.reset();
  state.frame->finder = nullptr;
}

/// `again`: a step of before, told again.
void Model::end_step(uint32_t process, ProcessState &state, uint64_t time_ns, bool again) {
  const uint32_t step = state.frame->step;
  state.steps.end(step, time_ns);
  accounts_.end_step(process);
  for (auto &[device, memory] : state.devices) memory.end_step(step, again);
  state.frame->next_step();
}

void Model::flag_step(ProcessState &state, uint8_t flags, uint64_t time_ns) {
  state.steps.flag(flags);
  if (state.frame->finder) state.frame->finder->note({time_ns, 0, flags, 0, StepEntry::Flags, 0, false});
}

void Model::last_flag(ProcessState &state, uint8_t flag, bool on, uint64_t time_ns) {
  uint8_t &lasting = state.steps.lasting_flags;
  lasting = static_cast<uint8_t>(on ? lasting | flag : lasting & ~flag);
  if (on) flag_step(state, flag, time_ns);
}

/// The line that begins the rounds of the loop allocates.
void Model::take_round(const Context &context) {
  ProcessSteps &steps = context.state.steps;
  steps.silent = 0;
  if (steps.finder && steps.finder->rests()) drop_finder(context.state);
  end_step(context.process, context.state, context.event.time_ns, false);
}

void Model::take_collection(const Context &context) {
  ProcessState &state = context.state;
  const trace::Event &event = context.event;
  if (event.kind == GMT_GC_END) {
    if (state.frame->gc_thread == event.thread) state.frame->gc_thread = kNone;
    return;
  }
  constexpr uint64_t kOldestGeneration = 2;
  const bool full = event.address >= kOldestGeneration;
  state.frame->gc_thread = event.thread;
  state.steps.collection(full);
  if (!state.frame->finder) return;
  const auto kind = full ? StepEntry::FullCollection : StepEntry::Collection;
  state.frame->finder->note({event.time_ns, 0, 0, 0, kind, 0, false});
}

/// A training step ended. Before the first one, everything was of that step.
void Model::take_step(const Context &context) {
  ProcessState &state = context.state;
  if (state.steps.source != StepSource::Optimizer) {
    state.steps.source = StepSource::Optimizer;
    state.steps.next_slice_ns = ~0ull;
    state.set_next_look();
    state.steps.anchor = kNone;
    state.steps.most_silent = ~0u;
    drop_finder(state);
    state.steps.restart_in_first_step();
    for (auto &[device, memory] : state.devices) memory.restart_in_first_step();
    state.frame->restart();
    accounts_.restart_in_first_step(context.process);
    each_block(context.process, state, [](uint64_t) { return 1u; });
  }
  end_step(context.process, state, context.event.time_ns, false);
}

/// Gives every live block of the process the step that `step_of` says of its time.
template <typename StepOf>
void Model::each_block(uint32_t process, ProcessState &state, StepOf step_of) {
  state.tensors.each([&](TensorBlock &block) { block.step = step_of(block.time_ns); });
  blocks_.each([&](uint32_t index, const Block &block) {
    if (accounts_.cell_infos()[block.cell].process == process) blocks_[index].step = step_of(block.time_ns);
  });
}

/// Where a framework has an allocator of its own, what it takes from the driver now and then is no part of rounds.
std::vector<LoopFinder::Maker> Model::makers_of(uint32_t process) const {
  bool tensors = false;
  for (const Ledger &ledger : accounts_.ledgers()) {
    tensors = tensors || (ledger.process == process && ledger.layer == Layer::Tensor && ledger.allocations > 0);
  }
  std::vector<LoopFinder::Maker> makers(accounts_.cells().size());
  for (uint32_t cell = 0; cell < makers.size(); ++cell) {
    const CellInfo &maker = accounts_.cell_infos()[cell];
    const SiteInfo &info = accounts_.sites()[accounts_.cells()[cell].site];
    const bool has_line =
        info.source == LineSource::Python && !info.summary.file.empty() && !info.summary.before_attach;
    makers[cell] = {has_line ? accounts_.cells()[cell].site : kNone, maker.thread,
                    tensors == (maker.layer == Layer::Tensor)};
  }
  return makers;
}

/// After an allocation.
void Model::look_for_loop(uint32_t process, ProcessState &state) {
  ProcessSteps &steps = state.steps;
  const bool goes_on = steps.sure && steps.silent < steps.most_silent;
  accounts_.resolve_pending();
  const auto loop = steps.finder->look(makers_of(process), goes_on ? steps.anchor : kNone);
  if (!loop) return;
  const bool other = loop->site != steps.anchor;
  if (other && steps.sure && !goes_on && !outlasts(steps, steps.finder->entries().back().time_ns)) return;
  if (other) {
    steps.source = StepSource::Periodic;
    steps.anchor = loop->site;
    steps.silent = 0;
    std::unique_ptr<LoopFinder> finder = std::move(steps.finder);  // is not to hear it all again
    state.frame->finder = nullptr;
    count_rounds(process, state, finder->entries());
    steps.finder = std::move(finder);
    state.frame->finder = steps.finder.get();
  }
  steps.most_silent = ProcessSteps::kSilentRounds * (static_cast<uint32_t>(loop->length) + 2);
  const bool doubtful = loop->irregular > 0 || loop->length < 2;
  steps.sure = loop->rounds >= (doubtful ? ProcessSteps::kDoubtfulRounds : ProcessSteps::kSureRounds);
}

/// Whether what has gone on since the loop's last round has for half as long as the loop: an evaluation between two epochs
/// is no new loop.
bool Model::outlasts(const ProcessSteps &steps, uint64_t now_ns) {
  return now_ns - steps.last_end_ns >= (steps.last_end_ns - steps.begin_ns) / 2;
}

void Model::restart_devices(ProcessState &state, const std::vector<StepEntry> &entries) {
  std::set<uint8_t> known;
  for (const StepEntry &entry : entries) {
    const auto device = static_cast<uint8_t>(entry.device);
    if (entry.kind != StepEntry::Reserved || !known.insert(device).second) continue;
    state.devices[device].restart_with(entry.mark, static_cast<int64_t>(entry.before));
  }
  for (auto &[device, memory] : state.devices) {
    if (!known.contains(device)) memory.restart();
  }
}

/// The rounds so far become steps: what happened since the look began is told again.
void Model::count_rounds(uint32_t process, ProcessState &state, const std::vector<StepEntry> &entries) {
  state.steps.restart();
  state.frame->restart();
  restart_devices(state, entries);
  accounts_.restart_before(process, entries);
  std::vector<uint64_t> ends;
  const auto step_of = [&](uint64_t time_ns) {
    return static_cast<uint32_t>(1 + (std::upper_bound(ends.begin(), ends.end(), time_ns) - ends.begin()));
  };
  for (const StepEntry &entry : entries) {
    const bool begins = entry.kind == StepEntry::Allocation && accounts_.cells()[entry.cell].site == state.steps.anchor;
    if (begins) {
      if (ends.empty()) state.steps.begin_ns = entry.time_ns;
      ends.push_back(entry.time_ns);
      end_step(process, state, entry.time_ns, true);
    }
    tell_again(state, entry, entry.kind == StepEntry::Free ? step_of(entry.before) : 0);
  }
  each_block(process, state, step_of);
}

void Model::tell_again(ProcessState &state, const StepEntry &entry, uint32_t born_step) {
  switch (entry.kind) {
    case StepEntry::Allocation:
    case StepEntry::Free:
      return accounts_.tell_again(entry, born_step);
    case StepEntry::Reserved:
      return state.devices[static_cast<uint8_t>(entry.device)].tell_reserved(static_cast<int64_t>(entry.bytes));
    case StepEntry::Flags:
      return state.steps.flag(static_cast<uint8_t>(entry.bytes));
    default:
      return state.steps.collection(entry.kind == StepEntry::FullCollection);
  }
}

}  // namespace gmt::model
