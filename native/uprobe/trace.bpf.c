// The tracer's BPF programs: driver calls at entry and return, PyTorch's reports, and the life of the traced processes.
#include "trace.bpf.h"
// Uses it.
#include "autograd.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct gmt_up_row rows[GMT_UP_MOST_ROWS];
const volatile uint32_t
    stop_at_libraries;  ///< 1: a process waits at new libraries until the tracer has attached to them

GMT_INLINE void copy_arguments(uint64_t *to, struct pt_regs *ctx) {
  to[0] = PT_REGS_PARM1(ctx);
  to[1] = PT_REGS_PARM2(ctx);
  to[2] = PT_REGS_PARM3(ctx);
  to[3] = PT_REGS_PARM4(ctx);
  to[4] = PT_REGS_PARM5(ctx);
  to[5] = ctx->r9;
}

#define MOST_NESTED 64

/// False: the call is one that another call of the table makes on the same thread. A pending call whose frame is gone (it was
/// left by a jump) has a stack pointer that this one has passed; where it has not, so many calls inside of it tell.
GMT_INLINE bool begin_call(struct gmt_up_pending *call, struct pt_regs *ctx, uint32_t row) {
  uint64_t stack_pointer = PT_REGS_SP(ctx);
  if (call->stack_pointer && stack_pointer < call->stack_pointer && call->nested < MOST_NESTED) {
    call->nested++;
    return false;
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

/// False: there was no room.
static __noinline bool tell_process(uint8_t type, struct task_struct *task, const struct gmt_up_target *target,
                                    uint32_t about) {
  if (!task || !target) return false;
  struct gmt_up_process record = {.head = {.type = type}};
  record.head.time = bpf_ktime_get_ns();
  record.host_pid = BPF_CORE_READ(task, tgid);
  record.pid = gmt_number(BPF_CORE_READ(task, group_leader));
  record.about = about;
  for (uint32_t i = 0; i < GMT_UP_LOSSES; i++) record.lost[i] = target->lost[i];
  return bpf_ringbuf_output(&gmt_ring, &record, sizeof record, BPF_RB_FORCE_WAKEUP) == 0;
}

/// Marks the process as ending, once. `task`: one of its threads.
GMT_INLINE void tell_ending(struct gmt_up_target *target) {
  if (target->ending) return;
  target->ending = 1;
  tell_process(GMT_UP_ENDING, bpf_get_current_task_btf(), target, 0);
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
  if (!begin_call(call, ctx, row)) return 0;
  const volatile struct gmt_up_row *shape = &rows[row & (GMT_UP_MOST_ROWS - 1)];
  if (!shape->ends) return 0;
  uint32_t address = shape->address;
  if (address < GMT_UP_ARGS && argument_of(call, address) == 0) return 0;
  struct call_facts facts = {};
  if (!gmt_fill_head(&here, &facts.head, GMT_UP_ENTRY, row)) {
    gmt_lose(here.target, GMT_UP_LOST_RING);
    return 0;
  }
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
  if (!gmt_fill_head(&here, &facts.head, GMT_UP_RETURN, row)) {
    gmt_lose(here.target, GMT_UP_LOST_RING);
    return 0;
  }
  facts.head.stack = shape->ends ? stack_of(ctx, &here) : stack_of_begin(ctx, &here, &facts.node);
  put_call(&here, &facts, call, shape);
  return 0;
}

// Contexts are followed while recording is off too: who is current is not told again when it comes back.

SEC("uprobe")
int context_entry(struct pt_regs *ctx) {
  struct gmt_here here;
  if (!gmt_find_thread(&here, false)) return 0;
  begin_call(&here.state->context_call, ctx, bpf_get_attach_cookie(ctx));
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

#define DEVICE_TYPE_CUDA 1  // c10::DeviceType::CUDA

/// Queues what the framework's allocator reports. `bytes` < 0: freed.
/// `row` 1: a USDT probe.
GMT_INLINE void put_tensor(struct pt_regs *ctx, uint8_t type, uint8_t row, uint16_t device, uint64_t address,
                           int64_t bytes, uint64_t reserved, uint64_t allocated) {
  struct gmt_here here;
  if (!recording || !gmt_find_thread(&here, true)) return;
  struct gmt_up_tensor about = {};
  if (!gmt_fill_head(&here, &about.head, type, row)) {
    gmt_lose(here.target, GMT_UP_LOST_RING);
    return;
  }
  about.head.flags = device;
  about.address = address;
  about.bytes = bytes;
  about.reserved = reserved;
  about.allocated = allocated;
  // Where blocks are freed is told by a sample, as the in-process tracer does.
  bool frees = type == GMT_UP_TENSOR && bytes < 0;
  if (!frees)
    about.head.stack = stack_of_begin(ctx, &here, &about.node);
  else if (here.state->frees++ % 8 == 0)
    about.head.stack = stack_of(ctx, &here);
  else if (want_stacks && gmt_python_ending(&here))
    tell_ending(here.target);
  gmt_put_event(&here, &about, sizeof about);
}

SEC("uprobe")
int tensor_report(struct pt_regs *ctx) {
  uint32_t report = bpf_get_attach_cookie(ctx);
  uint64_t first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx), third = PT_REGS_PARM3(ctx);
  uint64_t fourth = PT_REGS_PARM4(ctx), fifth = PT_REGS_PARM5(ctx);
  barrier_var(first);  // else the compiler chooses between places in ctx, which the verifier forbids
  barrier_var(second);
  barrier_var(third);
  barrier_var(fourth);
  barrier_var(fifth);
  uint16_t device = report == GMT_UP_REPORT ? fifth : report == GMT_UP_REPORT_OLD ? third : fourth;
  if ((device & 0xff) != DEVICE_TYPE_CUDA) return 0;
  if (report == GMT_UP_REPORT_OOM)
    put_tensor(ctx, GMT_UP_TENSOR_OOM, 0, device, 0, first, ~0ull, ~0ull);
  else if (second != 0)
    put_tensor(ctx, GMT_UP_TENSOR, 0, device, first, second, report == GMT_UP_REPORT ? fourth : ~0ull,
               report == GMT_UP_REPORT ? third : ~0ull);
  return 0;
}

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, GMT_UP_MOST_USDT);
  __type(key, uint32_t);
  __type(value, struct gmt_up_usdt);
} gmt_usdt SEC(".maps");

GMT_INLINE int64_t usdt_argument(struct pt_regs *ctx, const struct gmt_up_usdt_argument *argument) {
  uint64_t value = argument->value;
  if (argument->kind != GMT_UP_USDT_CONSTANT) {
    uint64_t place = (uint64_t)(argument->reg & 31) * 8;
    uint64_t content = 0;
    bpf_probe_read_kernel(&content, sizeof content, (const char *)ctx + place);
    value = content;
    if (argument->kind == GMT_UP_USDT_MEMORY)
      bpf_probe_read_user(&value, sizeof value, (const void *)(content + argument->value));
  }
  uint32_t shift = 64 - 8 * (argument->bytes & 15);
  value <<= shift & 63;
  return argument->is_signed ? (int64_t)value >> (shift & 63) : (int64_t)(value >> (shift & 63));
}

SEC("uprobe")
int usdt_report(struct pt_regs *ctx) {
  uint32_t place = bpf_get_attach_cookie(ctx);
  const struct gmt_up_usdt *probe = bpf_map_lookup_elem(&gmt_usdt, &place);
  if (!probe) return 0;
  uint64_t address = usdt_argument(ctx, &probe->arguments[0]);
  if (probe->frees) {
    put_tensor(ctx, GMT_UP_TENSOR, 1, GMT_UP_DEVICE_UNKNOWN, address, -1, ~0ull, ~0ull);
  } else {
    uint16_t device = DEVICE_TYPE_CUDA | usdt_argument(ctx, &probe->arguments[1]) << 8;
    put_tensor(ctx, GMT_UP_TENSOR, 1, device, address, usdt_argument(ctx, &probe->arguments[2]), ~0ull, ~0ull);
  }
  return 0;
}

#define LINKER_CONSISTENT 0  // r_debug.r_state: no change is under way
#define STOP_SIGNAL 19       // SIGSTOP

/// The cookie is the distance from here to r_debug.
SEC("uprobe")
int libraries_changed(struct pt_regs *ctx) {
  uint32_t pid = bpf_get_current_pid_tgid() >> 32;
  struct gmt_up_target *target = gmt_target_of(pid);
  if (!target) return 0;
  uint64_t distance = bpf_get_attach_cookie(ctx);
  int32_t change = LINKER_CONSISTENT;
  if (distance) bpf_probe_read_user(&change, sizeof change, (const void *)(PT_REGS_IP(ctx) + distance + 24));
  if (change != LINKER_CONSISTENT) return 0;
  bool stops = stop_at_libraries && bpf_send_signal(STOP_SIGNAL) == 0;
  tell_process(GMT_UP_LIBRARIES, bpf_get_current_task_btf(), target, stops);
  return 0;
}

SEC("uprobe")
int process_ending(struct pt_regs *ctx) {
  uint32_t pid = bpf_get_current_pid_tgid() >> 32;
  struct gmt_up_target *target = gmt_target_of(pid);
  if (target && recording) tell_ending(target);
  return 0;
}

/// A forked thread has its maker's current context, whatever that is worth there.
GMT_INLINE void copy_contexts(struct task_struct *child) {
  struct gmt_up_thread_state *from = bpf_task_storage_get(&gmt_threads, bpf_get_current_task_btf(), NULL, 0);
  if (!from || !from->depth) return;
  struct gmt_up_thread_state *to = bpf_task_storage_get(&gmt_threads, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!to) return;
  to->depth = from->depth;
  for (uint32_t i = 0; i < GMT_CONTEXT_DEPTH; i++) to->contexts[i] = from->contexts[i];
}

/// A place for one more process; NULL: there is none.
GMT_INLINE struct gmt_up_target *add_place(uint32_t host_pid) {
  uint32_t place = 0;
  if (bpf_map_pop_elem(&gmt_free_places, &place)) place = __sync_fetch_and_add(&places_used, 1) + 1;
  if (bpf_map_update_elem(&gmt_places, &host_pid, &place, BPF_ANY)) return NULL;
  return bpf_map_lookup_elem(&gmt_targets, &place);
}

GMT_INLINE void give_place(uint32_t host_pid) {
  uint32_t *place = bpf_map_lookup_elem(&gmt_places, &host_pid);
  if (!place) return;
  uint32_t left = *place;
  if (bpf_map_delete_elem(&gmt_places, &host_pid) == 0) bpf_map_push_elem(&gmt_free_places, &left, BPF_ANY);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_forked, struct task_struct *parent, struct task_struct *child) {
  uint32_t pid = BPF_CORE_READ(parent, tgid), made = BPF_CORE_READ(child, tgid);
  if (pid == made) return 0;
  struct gmt_up_target *target = gmt_target_of(pid);
  if (!target || !target->children) return 0;
  struct gmt_up_target *copy = add_place(made);
  if (!copy) {
    gmt_lose(target, GMT_UP_LOST_MAP);
    return 0;
  }
  __builtin_memset(copy, 0, sizeof *copy);
  copy->pid = gmt_number(child);
  copy->children = 1;
  copy->uid = target->uid;
  copy->interpreter = target->interpreter;
  copy_contexts(child);
  tell_process(GMT_UP_FORK, child, copy, target->pid);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_executed, struct task_struct *task, int old_pid, struct linux_binprm *binary) {
  uint32_t pid = BPF_CORE_READ(task, tgid);
  struct gmt_up_target *target = gmt_target_of(pid);
  if (!target) return 0;
  struct gmt_up_thread_state *state = bpf_task_storage_get(&gmt_threads, bpf_get_current_task_btf(), NULL, 0);
  if (state) __builtin_memset(state, 0, sizeof *state);
  target->interpreter = 0;
  target->ending = 0;
  target->active = 0;
  // A program that runs with others' rights is not its caller's to look into.
  if (target->uid != ~0u &&
      (BPF_CORE_READ(task, cred, euid.val) != target->uid || BPF_CORE_READ_BITFIELD_PROBED(binary, secureexec))) {
    if (tell_process(GMT_UP_EXIT, task, target, GMT_UP_LEFT)) give_place(pid);
    return 0;
  }
  bool stops = stop_at_libraries && bpf_send_signal(STOP_SIGNAL) == 0;
  tell_process(GMT_UP_EXEC, task, target, stops);
  return 0;
}

/// Where the end cannot be told, the tracer finds out by itself and takes the entry away.
SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exited, struct task_struct *task) {
  uint32_t pid = BPF_CORE_READ(task, tgid);
  struct gmt_up_target *target = gmt_target_of(pid);
  if (!target || BPF_CORE_READ(task, signal, live.counter) > 0) return 0;
  uint32_t code = BPF_CORE_READ(task, signal, group_exit_code);
  if (!code) code = BPF_CORE_READ(task, exit_code);
  if (tell_process(GMT_UP_EXIT, task, target, code & 0xffff)) give_place(pid);
  return 0;
}

/// In a PID namespace of its own the tracer asks so for the number by which BPF knows a process.
uint32_t wanted_pid;
uint32_t found_host_pid;

SEC("iter/task")
int find_host_pid(struct bpf_iter__task *ctx) {
  struct task_struct *task = ctx->task;
  if (!task || BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid)) return 0;
  if (gmt_number(task) == wanted_pid) found_host_pid = BPF_CORE_READ(task, tgid);
  return 0;
}

/// The tracer sets one field of an entry so, beside the counters that programs raise meanwhile.
SEC("syscall")
int set_interpreter(struct gmt_up_set_interpreter *wish) {
  uint32_t pid = wish->host_pid;
  struct gmt_up_target *target = gmt_target_of(pid);
  if (!target) return 1;
  target->interpreter = wish->interpreter;
  return 0;
}

SEC("uprobe")
int self_test(struct pt_regs *ctx) {
  struct gmt_up_head about = {.type = GMT_UP_SELF_TEST};
  about.flags = PT_REGS_PARM1(ctx);
  about.time = bpf_ktime_get_ns();
  bpf_ringbuf_output(&gmt_ring, &about, sizeof about, BPF_RB_FORCE_WAKEUP);
  return 0;
}
