#pragma once
// The stack of an event: Python's, or the native one.
#include "native_stack.bpf.h"
#include "python_walk.bpf.h"

/// The hash of the thread's Python stack; where it has none, of its native one if that is recorded.
GMT_INLINE uint64_t gmt_python_stack(struct pt_regs *ctx, struct gmt_here *here) {
  uint64_t hash = here->target->interpreter ? gmt_python_stack_of(here->target, here->state->number) : 0;
  if (hash || !want_native_stacks || here->node_runs) return hash;
  return gmt_native_stack_of(ctx, here->target, here->state->number);
}

/// Whether the process's interpreter shuts down.
GMT_INLINE bool gmt_python_ending(struct gmt_here *here) {
  uint32_t place = here->target->interpreter;
  if (!place || here->target->ending) return false;
  const struct gmt_python_interpreter *in = bpf_map_lookup_elem(&gmt_interpreters, &place);
  uint64_t ending = 0;
  return in && in->runtime && gmt_python_load_word(&ending, in->runtime + in->at.finalizing) && ending;
}
