#pragma once
// Steps: by the optimizer's marks, by a line that begins each round of a loop (loop_steps), by time.
#include "model/ingest/context.h"
#include "model/ingest/lifetimes.h"

namespace gmt::model {

// Steps of a program that does not mark them: rounds of a loop, by the line that begins them, also those before it was found.
/// The line that begins the rounds of the loop allocates, from `cell`.
void end_round(const Context &context, uint32_t cell);
/// The process ends: so did the round that runs, before what no round does, but for one in which the program also took down what earlier rounds
/// had left.
void end_last_round(const Context &context);
/// The loop has gone on for long without a new round: perhaps it is over, and another is looked for.
void search_again(const Context &context);
/// After an allocation.
void find_loop(const Context &context);

/// Whether `cell` has allocations of the anchor.
inline bool is_of(const State &all, const Anchor &anchor, uint32_t cell) {
  return all.accounts.site_of(cell) == anchor.site && anchor.has(all.accounts.cell_infos()[cell].stack);
}

/// Before an allocation of `cell` is counted: it may begin a step.
inline void begin_round(const Context &context, uint32_t cell) {
  ProcessSteps &steps = context.process.steps;
  if (is_of(context.all, steps.anchor, cell)) [[unlikely]]
    return end_round(context, cell);
  steps.allocate(cell, context.event.time_ns);
  if (++steps.silent >= steps.most_silent) [[unlikely]]
    search_again(context);
}

inline void find_loop_if_due(const Context &context) {
  const auto &finder = context.process.frame->finder;
  if (finder && finder->due()) find_loop(context);
}

/// A training step ended by the optimizer's mark.
void end_training_step(const Context &context);
void handle_collection(const Context &context);

/// Time has reached `time_ns`: readings of the device up to then hold, and slices of time end.
void advance_time(State &all, ProcessState &process, uint64_t time_ns);

/// The running step of the process ends. `again`: it is one of before, replayed.
void end_step(State &all, ProcessState &process, uint64_t time_ns, bool again);

/// Something about the running step is not known.
void flag_step(ProcessState &process, uint8_t flags, uint64_t time_ns);
/// The same of this and every later step until it is switched off.
void set_lasting_flag(const Context &context, uint8_t flag, bool on);

/// Gives every block of the process the step that `step_of` says of its time.
template <typename StepOf>
void set_steps_of_blocks(const Context &context, StepOf step_of) {
  State &all = context.all;
  ProcessState &process = context.process;
  if (context.lifetimes) context.lifetimes->renumber(process.number, step_of);
  process.tensors.each([&](TensorBlock &block) { block.step = step_of(block.time_ns); });
  all.blocks.each([&](uint32_t index, const Block &block) {
    if (all.accounts.cell_infos()[block.cell].process == process.number)
      all.blocks[index].step = step_of(block.time_ns);
  });
}

}  // namespace gmt::model
