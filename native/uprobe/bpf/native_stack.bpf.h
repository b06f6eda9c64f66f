#pragma once
// Native stacks, for events that have no Python stack: the kernel's walk along frame pointers, so what was compiled without them is
// left out. They share the scratch and the table of stacks with those of Python.
#include "python_scratch.bpf.h"

/// Set before loading.
const volatile uint32_t want_native_stacks;

/// A 64-bit name of the thread's native stack, which is queued the first time; 0: there is none, or it could not be had (counted).
static __noinline uint64_t gmt_native_stack_of(struct pt_regs *ctx, struct gmt_up_target *target, uint32_t thread) {
  if (!target || !ctx) return 0;
  struct gmt_python_scratch *own = gmt_own_scratch(target);
  if (!own) return 0;
  struct gmt_up_native_stack *about = (struct gmt_up_native_stack *)&own->stack;
  long bytes = bpf_get_stack(ctx, about->addresses, sizeof about->addresses, BPF_F_USER_STACK);
  if (bytes < 8) return 0;
  uint64_t depth = bytes / 8, hash = gmt_process_seed();
  if (depth > GMT_MAX_FRAMES) depth = GMT_MAX_FRAMES;
  for (uint32_t i = 0; i < GMT_MAX_FRAMES; i++) {
    if (i >= depth) break;
    hash = gmt_mix(hash, about->addresses[i]);
  }
  hash |= 1;
  uint8_t seen = 1;
  if (bpf_map_lookup_elem(&gmt_python_stacks, &hash)) return hash;
  if (bpf_map_update_elem(&gmt_python_stacks, &hash, &seen, BPF_NOEXIST) == GMT_EEXIST) return hash;
  about->head.type = GMT_UP_NATIVE_STACK;
  about->head.thread = thread;
  about->head.time = bpf_ktime_get_ns();
  about->head.stack = hash;
  about->depth = depth;
  about->cut = depth == GMT_MAX_FRAMES;
  if (gmt_put(about, offsetof(struct gmt_up_native_stack, addresses) + 8 * depth)) return hash;
  bpf_map_delete_elem(&gmt_python_stacks, &hash);
  gmt_lose(target, GMT_UP_LOST_STACK);
  return 0;
}
