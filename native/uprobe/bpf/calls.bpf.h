#pragma once
// Driver calls at entry and return, and which context is current.
#include "autograd.bpf.h"
#include "processes.bpf.h"
#include "stacks.bpf.h"

const volatile struct gmt_up_row rows[GMT_UP_MOST_ROWS];

GMT_INLINE void copy_arguments(uint64_t *to, struct pt_regs *ctx) {
  to[0] = PT_REGS_PARM1(ctx);
  to[1] = PT_REGS_PARM2(ctx);
  to[2] = PT_REGS_PARM3(ctx);
  to[3] = PT_REGS_PARM4(ctx);
  to[4] = PT_REGS_PARM5(ctx);
  to[5] = ctx->r9;
}

#define MOST_NESTED 64

/// False: another call of the table makes this one on the same thread. A pending call whose frame is gone (left by a jump) has a
/// stack pointer that this one has passed; where it has not, so many calls inside of it tell, and they were lost.
GMT_INLINE bool begin_call(struct gmt_here *here, struct gmt_up_pending *call, struct pt_regs *ctx, uint32_t row) {
  uint64_t stack_pointer = PT_REGS_SP(ctx);
  if (call->stack_pointer && stack_pointer < call->stack_pointer) {
    if (call->nested++ < MOST_NESTED) return false;
    __sync_fetch_and_add(&here->target->lost[GMT_UP_LOST_CALL], MOST_NESTED);
  }
  call->stack_pointer = stack_pointer;
  call->row = row;
  call->recorded = 0;
  call->nested = 0;
  copy_arguments(call->args, ctx);
  return true;
}

/// True where the pending call of this row returns.
GMT_INLINE bool end_call(struct gmt_up_pending *call, struct pt_regs *ctx, uint32_t row) {
  if (!call->stack_pointer || call->row != row || PT_REGS_SP(ctx) != call->stack_pointer + sizeof(uint64_t))
    return false;
  call->stack_pointer = 0;
  return true;
}

GMT_INLINE uint64_t argument_of(const struct gmt_up_pending *call, uint32_t index) { return call->args[index & 7]; }

GMT_INLINE uint64_t current_context(const struct gmt_up_thread_state *state) {
  return state->depth ? state->contexts[(state->depth - 1) & (GMT_CONTEXT_DEPTH - 1)] : 0;
}

/// The Python stack of an event. What comes once the interpreter shuts down is clean-up, and the mark for that goes before it.
GMT_INLINE uint64_t stack_of(struct pt_regs *ctx, struct gmt_here *here) {
  if (!want_stacks) return 0;
  uint64_t stack = gmt_python_stack(ctx, here);
  if (!stack && gmt_python_ending(here)) tell_ending(here->target);
  return stack;
}

/// As stack_of, of an event that begins memory. Without Python frames it belongs to the autograd node that runs, where one does.
GMT_INLINE uint64_t stack_of_begin(struct pt_regs *ctx, struct gmt_here *here, struct gmt_up_running *node) {
  if (!want_stacks) return 0;
  gmt_running_node(ctx, here, node);
  here->node_runs = node->role != GMT_AUTOGRAD_NONE;
  uint64_t stack = stack_of(ctx, here);
  if (stack) __builtin_memset(node, 0, sizeof *node);
  return stack;
}

/// Fills in the words of a call: arguments, results, struct. The small record has no room for a struct.
GMT_INLINE void fill_words(struct gmt_up_call *about, const struct gmt_up_pending *call,
                           const volatile struct gmt_up_row *shape, bool with_struct) {
  const uint32_t mask = with_struct ? 7 : GMT_UP_SMALL_WORDS - 1;
  const uint32_t arguments = with_struct ? GMT_UP_ARGS : GMT_UP_SMALL_WORDS;
  uint32_t place = shape->args & 7;
  about->args = place;
  about->outs = 0;
  about->copied = 0;
  for (uint32_t i = 0; i < arguments; i++) about->words[i] = call->args[i];
  if (shape->ends || about->head.type != GMT_UP_RETURN) return;
  if (about->result == 0) {
    for (uint32_t i = 0; i < GMT_UP_OUTS; i++) {
      if (i >= shape->outs) break;
      if (bpf_probe_read_user(&about->words[place & mask], 8, (const void *)argument_of(call, shape->out[i])))
        about->head.flags |= GMT_UP_UNREAD;
      place++;
      about->outs++;
    }
  }
  if (!with_struct || shape->copied_argument >= GMT_UP_ARGS) return;
  uint32_t bytes = shape->copied;
  if (bytes > GMT_UP_COPIED) bytes = GMT_UP_COPIED;
  if (bpf_probe_read_user(&about->words[place & mask], bytes, (const void *)argument_of(call, shape->copied_argument)))
    about->head.flags |= GMT_UP_UNREAD;
  about->copied = bytes;
}

/// What is known of a call before its words are read.
struct call_facts {
  struct gmt_up_head head;
  struct gmt_up_running node;
  int32_t result;
};

/// Fills in a record that lies in the ring, and hands it over.
GMT_INLINE void finish_call(struct gmt_here *here, struct gmt_up_call *about, const struct call_facts *facts,
                            const struct gmt_up_pending *call, const volatile struct gmt_up_row *shape, bool big) {
  about->head = facts->head;
  about->node = facts->node;
  about->context = current_context(here->state);
  about->result = facts->result;
  fill_words(about, call, shape, big);
  if (!here->target->active) here->target->active = 1;
  bpf_ringbuf_submit(about, gmt_wake_flags());
}

/// Queues the call. False: no room, counted.
GMT_INLINE bool put_call(struct gmt_here *here, const struct call_facts *facts, const struct gmt_up_pending *call,
                         const volatile struct gmt_up_row *shape) {
  struct gmt_up_call *about;
  if (shape->small) {
    about = bpf_ringbuf_reserve(&gmt_ring, offsetof(struct gmt_up_call, words) + 8 * GMT_UP_SMALL_WORDS, 0);
    if (about) return finish_call(here, about, facts, call, shape, false), true;
  } else {
    about = bpf_ringbuf_reserve(&gmt_ring, sizeof *about, 0);
    if (about) return finish_call(here, about, facts, call, shape, true), true;
  }
  gmt_lose(here->target, GMT_UP_LOST_RING);
  return false;
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx) {
  struct gmt_here here;
  uint32_t row = bpf_get_attach_cookie(ctx);
  if (!recording || !gmt_find_thread(&here, true)) return 0;
  struct gmt_up_pending *call = &here.state->call;
  if (!begin_call(&here, call, ctx, row)) return 0;
  const volatile struct gmt_up_row *shape = &rows[row & (GMT_UP_MOST_ROWS - 1)];
  if (!shape->ends) return 0;
  uint32_t address = shape->address;
  if (address < GMT_UP_ARGS && argument_of(call, address) == 0) return 0;
  struct call_facts facts = {};
  if (!gmt_begin_event(&here, &facts.head, GMT_UP_ENTRY, row)) return 0;
  facts.head.stack = stack_of(ctx, &here);
  call->recorded = put_call(&here, &facts, call, shape);
  return 0;
}

SEC("uretprobe")
int call_return(struct pt_regs *ctx) {
  struct gmt_here here;
  uint32_t row = bpf_get_attach_cookie(ctx);
  if (!gmt_find_thread(&here, true)) return 0;
  struct gmt_up_pending *call = &here.state->call;
  if (!end_call(call, ctx, row) || !recording) return 0;
  const volatile struct gmt_up_row *shape = &rows[row & (GMT_UP_MOST_ROWS - 1)];
  struct call_facts facts = {};
  facts.result = PT_REGS_RC(ctx);
  if (shape->ends && (facts.result == 0 || !call->recorded)) return 0;
  if (!gmt_begin_event(&here, &facts.head, GMT_UP_RETURN, row)) return 0;
  facts.head.stack = shape->ends ? stack_of(ctx, &here) : stack_of_begin(ctx, &here, &facts.node);
  put_call(&here, &facts, call, shape);
  return 0;
}

// Contexts are followed while recording is off too: who is current is not reported again when it comes back.

SEC("uprobe")
int context_entry(struct pt_regs *ctx) {
  struct gmt_here here;
  if (!gmt_find_thread(&here, false)) return 0;
  begin_call(&here, &here.state->context_call, ctx, bpf_get_attach_cookie(ctx));
  return 0;
}

GMT_INLINE void tell_device(struct gmt_here *here, uint64_t context, int32_t device, uint16_t flags) {
  struct gmt_up_context about = {};
  if (!gmt_fill_head(here, &about.head, GMT_UP_CONTEXT, 0)) return;
  about.head.flags = flags;
  about.context = context;
  about.device = device;
  gmt_put(&about, sizeof about);
}

GMT_INLINE void set_context(struct gmt_up_thread_state *state, uint64_t context) {
  if (state->depth == 0) state->depth = 1;
  state->contexts[(state->depth - 1) & (GMT_CONTEXT_DEPTH - 1)] = context;
}

GMT_INLINE void push_context(struct gmt_up_thread_state *state, uint64_t context) {
  if (state->depth < GMT_CONTEXT_DEPTH) state->depth++;
  set_context(state, context);
}

SEC("uretprobe")
int context_return(struct pt_regs *ctx) {
  struct gmt_here here;
  uint32_t cookie = bpf_get_attach_cookie(ctx);
  if (!gmt_find_thread(&here, false)) return 0;
  struct gmt_up_thread_state *state = here.state;
  struct gmt_up_pending *call = &state->context_call;
  if (!end_call(call, ctx, cookie) || (int32_t)PT_REGS_RC(ctx) != 0) return 0;
  uint64_t result = 0;
  uint32_t op = cookie & 0xff;
  if (op >= GMT_UP_CONTEXT_CREATE) bpf_probe_read_user(&result, 8, (const void *)call->args[0]);
  int32_t device = argument_of(call, cookie >> 8);
  switch (op) {
    case GMT_UP_CONTEXT_SET:
      set_context(state, call->args[0]);
      break;
    case GMT_UP_CONTEXT_PUSH:
      push_context(state, call->args[0]);
      break;
    case GMT_UP_CONTEXT_POP:
      if (state->depth) state->depth--;
      break;
    case GMT_UP_CONTEXT_CREATE:
      push_context(state, result);
      tell_device(&here, result, device, 0);
      break;
    case GMT_UP_CONTEXT_RETAIN:
      tell_device(&here, result, device, GMT_UP_RETAINED);
      break;
    case GMT_UP_CONTEXT_GET:
      set_context(state, result);
      break;
    case GMT_UP_CONTEXT_GET_DEVICE:
      if (current_context(state)) tell_device(&here, current_context(state), (int32_t)result, 0);
      break;
  }
  return 0;
}
