#pragma once
// Steps of a program that tells nothing of them: the loop is found by the line that begins its rounds, and the rounds
// before it was found become steps as well.
#include "model/ingest/context.h"

namespace gmt::model {

/// The line that begins the rounds of the loop allocates, from `cell`.
void end_round(const Context &context, uint32_t cell);
/// The process ends: so does the round that runs, but for one in which the program also took down what earlier rounds had left.
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
  if (++steps.silent >= steps.most_silent) [[unlikely]]
    search_again(context);
}

inline void find_loop_if_due(const Context &context) {
  const auto &finder = context.process.frame->finder;
  if (finder && finder->due()) find_loop(context);
}

}  // namespace gmt::model
