#pragma once
// What all BPF programs of the tracer use: the maps, the thread they run on, and the way into the ring buffer.
#include "vmlinux.h"
// vmlinux.h first: the others use its types.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "ring.h"

#define GMT_INLINE static __always_inline
#define GMT_MOST_PROCESSES 8192

/// A map of so many entries.
#define GMT_MAP(kind, entries, key_type, value_type, name) \
  struct {                                                 \
    __uint(type, BPF_MAP_TYPE_##kind);                     \
    __uint(max_entries, entries);                          \
    __type(key, key_type);                                 \
    __type(value, value_type);                             \
  } name SEC(".maps")

/// Set before loading.
const volatile uint32_t tracer_pid_namespace;  ///< inode number of the tracer's PID namespace, 0 = the first one
const volatile uint64_t wake_bytes = 1 << 20;  ///< so much queued wakes the tracer
const volatile uint32_t want_stacks;

/// Shared with the tracer while it runs.
uint32_t recording;  ///< 1 = record
uint32_t sleeping;   ///< the tracer waits and must be woken
uint32_t threads_seen __attribute__((aligned(64)));

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} gmt_ring SEC(".maps");

/// Traced processes: host pid -> place in gmt_targets. A thread remembers its place, so that its events look nothing up.
GMT_MAP(HASH, GMT_MOST_PROCESSES, uint32_t, uint32_t, gmt_places);

/// Place 0 stays free.
GMT_MAP(ARRAY, GMT_MOST_PROCESSES, uint32_t, struct gmt_up_target, gmt_targets);

/// Places of processes that ended.
struct {
  __uint(type, BPF_MAP_TYPE_QUEUE);
  __uint(max_entries, GMT_MOST_PROCESSES);
  __type(value, uint32_t);
} gmt_free_places SEC(".maps");
uint32_t places_used;

GMT_INLINE struct gmt_up_target *gmt_target_of(uint32_t host_pid) {
  uint32_t *place = bpf_map_lookup_elem(&gmt_places, &host_pid);
  return place ? bpf_map_lookup_elem(&gmt_targets, place) : NULL;
}

/// A driver call in progress: the outermost one of its thread.
struct gmt_up_pending {
  uint64_t stack_pointer;  ///< at entry; 0 = none
  uint64_t args[8];        ///< GMT_UP_ARGS, and room that a masked index needs
  uint32_t row;
  uint16_t recorded;  ///< its entry is in the ring
  uint16_t nested;    ///< calls that began inside of it
};

#define GMT_CONTEXT_DEPTH 8
struct gmt_up_thread_state {
  uint32_t place;   ///< of its process in gmt_targets, 0 = not looked up yet
  uint32_t number;  ///< 0 = not reported yet
  uint32_t frees;   ///< of tensors: each eighth gets a stack
  uint32_t depth;   ///< of `contexts`
  uint64_t contexts[GMT_CONTEXT_DEPTH];
  struct gmt_up_pending call;
  struct gmt_up_pending context_call;
  struct gmt_up_autograd autograd;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct gmt_up_thread_state);
} gmt_threads SEC(".maps");

/// The thread that a program runs on. Neither is null if gmt_find_thread returned true.
struct gmt_here {
  struct gmt_up_target *target;
  struct gmt_up_thread_state *state;
  bool node_runs;  ///< the event belongs to an autograd node: its line says more than a native stack
};

GMT_INLINE void gmt_lose(struct gmt_up_target *target, enum gmt_up_loss cause) {
  if (cause < GMT_UP_LOSSES) __sync_fetch_and_add(&target->lost[cause], 1);
}

/// The tracer is woken when much is queued; else it comes by itself.
GMT_INLINE uint64_t gmt_wake_flags(void) {
  if (bpf_ringbuf_query(&gmt_ring, BPF_RB_AVAIL_DATA) < wake_bytes || !sleeping) return BPF_RB_NO_WAKEUP;
  sleeping = 0;
  return BPF_RB_FORCE_WAKEUP;
}

/// Queues one record of `bytes` bytes. False: there was no room; what that means is the caller's to count.
GMT_INLINE bool gmt_put(const void *record, uint64_t bytes) {
  return bpf_ringbuf_output(&gmt_ring, (void *)record, bytes, gmt_wake_flags()) == 0;
}

/// Number of a task in the tracer's PID namespace, 0 where it has none.
GMT_INLINE uint32_t gmt_number(struct task_struct *task) {
  if (!tracer_pid_namespace) return BPF_CORE_READ(task, pid);
  struct pid *pid = BPF_CORE_READ(task, thread_pid);
  uint32_t level = BPF_CORE_READ(pid, level);
  for (uint32_t i = 0; i < 8 && i <= level; i++) {
    struct upid number = {};
    bpf_core_read(&number, sizeof number, &pid->numbers[i]);
    if (number.ns && BPF_CORE_READ(number.ns, ns.inum) == tracer_pid_namespace) return number.nr;
  }
  return 0;
}

/// Tells the tracer of a thread at its first event.
static __noinline uint32_t gmt_announce(struct gmt_up_thread_state *state) {
  if (!state) return 0;
  struct task_struct *task = bpf_get_current_task_btf();
  struct gmt_up_thread about = {.head = {.type = GMT_UP_THREAD}};
  about.head.thread = __sync_fetch_and_add(&threads_seen, 1) + 1;
  about.head.time = bpf_ktime_get_ns();
  about.host_pid = bpf_get_current_pid_tgid() >> 32;
  about.pid = gmt_number(task->group_leader);
  about.tid = gmt_number(task);
  bpf_get_current_comm(about.name, sizeof about.name);
  if (!gmt_put(&about, sizeof about)) return 0;
  state->number = about.head.thread;
  return state->number;
}

/// A thread that was not seen before; NULL: it is of no traced process, or there is no room (counted where it has an `event`).
static __noinline struct gmt_up_thread_state *gmt_first_sight(bool event) {
  uint32_t pid = bpf_get_current_pid_tgid() >> 32;
  uint32_t *place = bpf_map_lookup_elem(&gmt_places, &pid);
  if (!place) return NULL;
  struct gmt_up_thread_state *state =
      bpf_task_storage_get(&gmt_threads, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (state) {
    state->place = *place;
  } else if (event) {
    struct gmt_up_target *target = bpf_map_lookup_elem(&gmt_targets, place);
    if (target) gmt_lose(target, GMT_UP_LOST_MAP);
  }
  return state;
}

/// False: nothing is known of this thread; see gmt_first_sight.
GMT_INLINE bool gmt_find_thread(struct gmt_here *here, bool event) {
  here->node_runs = false;
  here->state = bpf_task_storage_get(&gmt_threads, bpf_get_current_task_btf(), NULL, 0);
  if (!here->state || !here->state->place) here->state = gmt_first_sight(event);
  if (!here->state) return false;
  uint32_t place = here->state->place;
  here->target = bpf_map_lookup_elem(&gmt_targets, &place);
  return here->target != NULL;
}

/// Fills a record's head; false: the thread is unknown, so nothing about it can be recorded.
GMT_INLINE bool gmt_fill_head(struct gmt_here *here, struct gmt_up_head *head, uint8_t type, uint8_t row) {
  uint32_t number = here->state->number;
  if (!number) number = gmt_announce(here->state);
  head->type = type;
  head->row = row;
  head->flags = 0;
  head->thread = number;
  head->time = bpf_ktime_get_ns();
  head->stack = 0;
  return number != 0;
}

/// The same for an event, which is lost (counted) if its thread is unknown.
GMT_INLINE bool gmt_begin_event(struct gmt_here *here, struct gmt_up_head *head, uint8_t type, uint8_t row) {
  if (gmt_fill_head(here, head, type, row)) return true;
  gmt_lose(here->target, GMT_UP_LOST_RING);
  return false;
}

/// Queues an event; where there is no room it is counted.
GMT_INLINE void gmt_put_event(struct gmt_here *here, const void *record, uint64_t bytes) {
  if (!here->target->active) here->target->active = 1;
  if (!gmt_put(record, bytes)) gmt_lose(here->target, GMT_UP_LOST_RING);
}
