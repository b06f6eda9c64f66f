#pragma once
// The life of the traced processes: they make processes, run other programs, load libraries, end.
#include "trace.bpf.h"

const volatile uint32_t stop_at_libraries;  ///< 1: a process waits at new libraries until the tracer is attached

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

/// If the end is not reported, the tracer finds out by itself and takes the entry away.
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

/// In a PID namespace of its own the tracer gets so the number by which BPF knows a process.
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
