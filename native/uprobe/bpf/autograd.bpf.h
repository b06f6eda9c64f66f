#pragma once
// PyTorch's autograd as BPF sees it: the numbers that nodes get on the forward pass, and the node that runs on a thread.
//
// No return is probed: a node's evaluation may end by an exception, which cannot pass a probed return. The counter of numbers and
// the thread's id are read where they lie, in the thread's own data:
//
//   thread pointer + 8 -> table of the thread's blocks, 16 bytes a library -> block + offset
#include "python_walk.bpf.h"
#include "wire/layout.h"

GMT_MAP(ARRAY, GMT_UP_MOST_TORCHES, uint32_t, struct gmt_up_torch, gmt_torches);

/// Address of a library's thread-local variable; 0: this thread has not used the library's data yet. False: unreadable.
static __noinline bool gmt_thread_local(uint64_t *address, uint64_t index_at, int64_t offset) {
  struct {
    uint64_t library, offset;
  } index;
  uint64_t blocks = 0, count = 0, block = 0;
  if (!address) return false;
  *address = 0;
  if (!gmt_python_load(&index, sizeof index, index_at)) return false;
  if (!gmt_python_load_word(&blocks, gmt_thread_pointer() + 8) || !gmt_python_load_word(&count, blocks - 16))
    return false;
  if (index.library == 0 || index.library > count) return true;
  if (!gmt_python_load_word(&block, blocks + 16 * index.library)) return false;
  if (block != 0 && block != ~0ull) *address = block + index.offset + offset;
  return true;
}

/// The variable's value at `*cached`, which is found first where that is 0. What was never used is 0.
GMT_INLINE bool gmt_read_thread_local(uint64_t *value, uint64_t *cached, uint64_t index_at, int64_t offset) {
  uint64_t address = *cached;
  *value = 0;
  if (!address) {
    if (!gmt_thread_local(&address, index_at, offset)) return false;
    if (!address) return true;
    *cached = address;
  }
  return gmt_python_load_word(value, address);
}

GMT_INLINE void gmt_put_node(struct gmt_here *here, uint64_t sequence, uint32_t thread, uint64_t stack) {
  struct gmt_up_node about = {};
  bool complete = gmt_fill_head(here, &about.head, GMT_UP_NODE, 0);
  about.head.stack = stack;
  about.sequence = sequence;
  about.thread = thread;
  if (!complete || !gmt_put(&about, sizeof about)) gmt_lose(here->target, GMT_UP_LOST_RING);
}

/// A thread's first node is reported before PyTorch has numbered the thread; once it has, the node is reported again.
GMT_INLINE void gmt_name_node(struct gmt_here *here) {
  struct gmt_up_autograd *own = &here->state->autograd;
  uint64_t id = 0;
  if (!own->nameless || !own->thread_at || !gmt_python_load_word(&id, own->thread_at) || !id) return;
  gmt_put_node(here, own->nameless - 1, id, own->nameless_stack);
  own->nameless = 0;
}

/// In at::sequence_number::get_and_increment, before the thread's counter is raised: its value is the new node's number.
SEC("uprobe")
int node_numbered(struct pt_regs *ctx) {
  struct gmt_here here;
  uint32_t place = bpf_get_attach_cookie(ctx);
  // A log begins with GPU memory, not with a node.
  if (!recording || !gmt_find_thread(&here, false) || !here.target->active || !here.target->interpreter) return 0;
  const struct gmt_up_torch *torch = bpf_map_lookup_elem(&gmt_torches, &place);
  if (!torch) return 0;
  struct gmt_up_autograd *own = &here.state->autograd;
  uint64_t sequence = 0, id = 0, here_at = PT_REGS_IP(ctx);
  if (!gmt_read_thread_local(&sequence, &own->counter_at, here_at + torch->counter_index, torch->counter_offset) ||
      !gmt_read_thread_local(&id, &own->thread_at, here_at + torch->thread_index, torch->thread_offset)) {
    gmt_lose(here.target, GMT_UP_LOST_STACK);
    return 0;
  }
  if (!here.state->number && !gmt_announce(here.state)) {
    gmt_lose(here.target, GMT_UP_LOST_RING);
    return 0;
  }
  uint64_t stack = gmt_python_stack_of(here.target, here.state->number);
  if (!stack) return 0;
  own->nameless = id ? 0 : sequence + 1;
  own->nameless_stack = stack;
  gmt_put_node(&here, sequence, id, stack);
  return 0;
}

/// The thread's evaluation that is under way, with those that are over taken off; NULL: none.
GMT_INLINE struct gmt_up_evaluation *gmt_evaluation(struct gmt_up_autograd *own, uint64_t stack_pointer) {
  for (uint32_t i = 0; i < GMT_NODE_DEPTH; i++) {
    uint32_t depth = own->depth;
    if (depth == 0) return NULL;
    struct gmt_up_evaluation *last = &own->evaluations[(depth - 1) & (GMT_NODE_DEPTH - 1)];
    uint64_t there = 0;
    if (stack_pointer < last->stack_pointer && gmt_python_load_word(&there, last->stack_pointer) &&
        there == last->return_address)
      return last;
    own->depth = depth - 1;
  }
  own->depth = 0;
  return NULL;
}

/// torch::autograd::Engine::evaluate_function(graph task, node, ...) begins; no register or stack was changed yet. Followed while
/// recording is off too: what runs is not reported again when it comes back.
SEC("uprobe")
int node_begins(struct pt_regs *ctx) {
  struct gmt_here here;
  if (!gmt_find_thread(&here, false)) return 0;
  struct gmt_up_autograd *own = &here.state->autograd;
  uint64_t stack_pointer = PT_REGS_SP(ctx);
  gmt_evaluation(own, stack_pointer);
  uint32_t depth = own->depth;
  struct gmt_up_evaluation *next = &own->evaluations[depth & (GMT_NODE_DEPTH - 1)];
  if (!gmt_python_load_word(&next->return_address, stack_pointer)) return 0;
  next->stack_pointer = stack_pointer;
  next->node = PT_REGS_PARM3(ctx);
  own->library = bpf_get_attach_cookie(ctx);
  own->depth = depth + 1;
  return 0;
}

/// What runs on the thread that allocates.
GMT_INLINE void gmt_running_node(struct pt_regs *ctx, struct gmt_here *here, struct gmt_up_running *out) {
  struct gmt_up_autograd *own = &here->state->autograd;
  if (own->nameless) gmt_name_node(here);
  if (!own->depth) return;
  struct gmt_up_evaluation *evaluation = gmt_evaluation(own, PT_REGS_SP(ctx));
  if (!evaluation) return;
  uint32_t place = own->library;
  const struct gmt_up_torch *torch = bpf_map_lookup_elem(&gmt_torches, &place);
  if (!torch) return;
  uint64_t node = evaluation->node, thread = 0;
  if (!gmt_python_load_word(&out->sequence, node + torch->node_sequence) ||
      !gmt_python_load_word(&thread, node + torch->node_thread)) {
    gmt_lose(here->target, GMT_UP_LOST_STACK);
    return;
  }
  out->thread = thread;
  out->role = GMT_AUTOGRAD_BACKWARD;
}
