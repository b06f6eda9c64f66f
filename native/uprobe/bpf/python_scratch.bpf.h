#pragma once
// What every walk over a thread's stack works with: scratch memory, what was described already, reading memory, hashing.
#include "python_ring.h"
#include "trace.bpf.h"

/// Set before loading: 1 = the programs may sleep, so memory that is paged out is fetched.
const volatile uint32_t can_sleep;

GMT_MAP(ARRAY, GMT_MOST_PROCESSES, uint32_t, struct gmt_python_interpreter, gmt_interpreters);

/// What was described already. One that is pushed out is described again: the tracer recognizes it by its key.
struct gmt_python_seen {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1 << 16);
  __type(key, uint64_t);
  __type(value, uint8_t);
};
struct gmt_python_seen gmt_python_stacks SEC(".maps");
struct gmt_python_seen gmt_python_codes SEC(".maps");

#define GMT_EEXIST (-17)  // another thread was faster
#define GMT_PYTHON_MOST_SHIMS (2 * GMT_MAX_FRAMES)

/// A thread's own: the walk does not fit on a BPF stack, and a program may be preempted, so it cannot be the processor's.
/// Below 4 KiB: more is not to be had everywhere a program runs.
struct gmt_python_scratch {
  uint64_t seed;        ///< of the process: a child has its parent's addresses
  uint64_t hash;        ///< of the frames so far
  uint64_t frame;       ///< the next one
  uint64_t file;        ///< of the last code object that was printed by its content
  uint64_t file_print;  ///< its print
  uint32_t depth;
  uint32_t shims;
  uint8_t fill;    ///< the frames are kept, and code objects described
  uint8_t cut;     ///< there are more
  uint8_t failed;  ///< memory could not be read
  uint8_t lost;    ///< a code object could not be described
  uint32_t reserved;
  uint8_t frame_block[GMT_PYTHON_FRAME_BYTES];
  uint8_t code_block[GMT_PYTHON_CODE_BYTES];  ///< holds the thread state first
  struct gmt_up_python_stack stack;
  struct gmt_up_python_part part;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct gmt_python_scratch);
} gmt_python_scratches SEC(".maps");

/// The thread's own; NULL: there is no room for it (counted).
GMT_INLINE struct gmt_python_scratch *gmt_own_scratch(struct gmt_up_target *target) {
  struct gmt_python_scratch *own =
      bpf_task_storage_get(&gmt_python_scratches, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!own) gmt_lose(target, GMT_UP_LOST_STACK);
  return own;
}

struct gmt_python_walk {
  const struct gmt_python_interpreter *in;
  struct gmt_python_scratch *own;
};

/// Most pages are there; asking in the cheap way first costs nothing.
GMT_INLINE bool gmt_python_load(void *to, uint32_t bytes, uint64_t from) {
  if (bpf_probe_read_user(to, bytes, (const void *)from) == 0) return true;
  return can_sleep && bpf_copy_from_user(to, bytes, (const void *)from) == 0;
}

GMT_INLINE bool gmt_python_load_word(uint64_t *to, uint64_t from) { return gmt_python_load(to, sizeof *to, from); }

// Fields of a block that was read. The masks keep any offset inside.
GMT_INLINE uint64_t gmt_code_word(const struct gmt_python_scratch *own, uint16_t offset) {
  return *(const uint64_t *)(own->code_block + (offset & (GMT_PYTHON_CODE_BYTES - 8)));
}
GMT_INLINE uint32_t gmt_code_half(const struct gmt_python_scratch *own, uint16_t offset) {
  return *(const uint32_t *)(own->code_block + (offset & (GMT_PYTHON_CODE_BYTES - 4)));
}
GMT_INLINE uint64_t gmt_frame_word(const struct gmt_python_scratch *own, uint16_t offset) {
  return *(const uint64_t *)(own->frame_block + (offset & (GMT_PYTHON_FRAME_BYTES - 8)));
}
GMT_INLINE uint32_t gmt_frame_half(const struct gmt_python_scratch *own, uint16_t offset) {
  return *(const uint32_t *)(own->frame_block + (offset & (GMT_PYTHON_FRAME_BYTES - 4)));
}
GMT_INLINE uint8_t gmt_frame_byte(const struct gmt_python_scratch *own, uint16_t offset) {
  return own->frame_block[offset & (GMT_PYTHON_FRAME_BYTES - 1)];
}

#define GMT_MIX_A 0x9e3779b97f4a7c15ull
#define GMT_MIX_B 0xd1b54a32d192ed03ull

GMT_INLINE uint64_t gmt_mix(uint64_t a, uint64_t b) {
  uint64_t sum = (a ^ GMT_MIX_A) * GMT_MIX_B ^ (b + GMT_MIX_B) * GMT_MIX_A;
  sum = (sum ^ sum >> 32) * GMT_MIX_B;
  return sum ^ sum >> 29;
}

/// The thread pointer, which on x86-64 is the thread's pthread_t too.
GMT_INLINE uint64_t gmt_thread_pointer(void) {
#if defined(__TARGET_ARCH_x86)
  return bpf_get_current_task_btf()->thread.fsbase;
#else
#error "which register holds the thread pointer, and where is the pthread_t from there?"
#endif
}

/// Distinguishes processes, also forked ones, later ones with the same pid, and what a process was before it ran another program.
GMT_INLINE uint64_t gmt_process_seed(void) {
  struct task_struct *task = bpf_get_current_task_btf();
  return gmt_mix(task->group_leader->start_time, (uint64_t)task->tgid << 32 | (uint32_t)task->self_exec_id);
}
