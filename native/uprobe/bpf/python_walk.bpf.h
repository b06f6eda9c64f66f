#pragma once
// Python stacks of the thread that a program runs on, for CPython 3.9 to 3.14: the walk of native/python, in BPF.
//
// Safe for the same reasons: the thread is in the probed call, so it neither pushes nor pops frames, and a frame that is active owns
// its code object. All memory of the process is untrusted: a read that fails ends the walk, a wrong one gives wrong names.
//
//   every event: the frames are hashed       (gmt_python_stack; two reads a frame from 3.12 on, some more before)
//   a new hash:  walked again, kept, queued  (code objects at first sight: python_code.bpf.h)
//
// Included by trace.bpf.h, whose ring and losses it uses.
#include "python_ring.h"

/// Set before loading: 1 = the programs may sleep, so memory that is paged out is fetched.
const volatile uint32_t can_sleep;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, GMT_MOST_PROCESSES);
  __type(key, uint32_t);
  __type(value, struct gmt_python_interpreter);
} gmt_interpreters SEC(".maps");

/// What was described already. One that is pushed out is described again: the tracer knows it by its key.
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

#include "python_code.bpf.h"

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

/// The thread's state, as PyGILState_GetThisThreadState gives it; 0: none. The key is read anew each time: a forked child makes a
/// new one. A thread's block of data begins with entries of 16 bytes, {sequence, value}.
GMT_INLINE uint64_t gmt_python_thread_state(const struct gmt_python_interpreter *in, uint64_t thread) {
  struct {
    uint32_t created, key;
  } slot;
  if (!gmt_python_load(&slot, sizeof slot, in->runtime + in->thread_key) || slot.created != 1) return 0;
  uint64_t block = thread + in->first_block, state = 0;
  if (slot.key >= 32 && (!gmt_python_load_word(&block, thread + in->blocks + 8 * (uint64_t)(slot.key / 32)) || !block))
    return 0;
  return gmt_python_load_word(&state, block + 16 * (uint64_t)(slot.key & 31) + 8) ? state : 0;
}

/// Finds the innermost frame. False: no Python on this thread, or none any more.
GMT_INLINE bool gmt_python_begin(struct gmt_python_walk *walk) {
  const struct gmt_python_interpreter *in = walk->in;
  struct gmt_python_scratch *own = walk->own;
  uint64_t ending = 0, thread = gmt_thread_pointer();
  own->failed = 0;
  if (!gmt_python_load_word(&ending, in->runtime + in->finalizing) || ending) return false;
  uint64_t state = gmt_python_thread_state(in, thread);
  if (!state) return false;
  own->failed = !gmt_python_load(own->code_block, in->thread_read & (GMT_PYTHON_THREAD_BYTES - 1), state);
  // What a key of an earlier life of the interpreter left behind is no state of this thread.
  if (own->failed || gmt_code_word(own, in->thread_id) != thread) return false;
  own->frame = gmt_code_word(own, in->thread_frame);
  if (in->cframe_frame != GMT_PYTHON_NONE && own->frame)
    own->failed = !gmt_python_load_word(&own->frame, own->frame + in->cframe_frame);
  own->hash = own->seed = gmt_process_seed();
  own->file = 0;
  own->depth = own->shims = 0;
  own->cut = own->lost = 0;
  return !own->failed && own->frame;
}

/// Reads the frame and its code object into their blocks. Gives the code object; 0: a shim of the interpreter, or `failed`.
GMT_INLINE uint64_t gmt_python_read_frame(const struct gmt_python_interpreter *in, struct gmt_python_scratch *own) {
  if (!gmt_python_load(own->frame_block, in->frame_read & (GMT_PYTHON_FRAME_BYTES - 1), own->frame)) {
    own->failed = 1;
    return 0;
  }
  own->frame = gmt_frame_word(own, in->frame_previous);
  if (in->frame_owner != GMT_PYTHON_NONE && gmt_frame_byte(own, in->frame_owner) >= GMT_PYTHON_OWNER_SHIM) return 0;
  uint64_t code = gmt_frame_word(own, in->frame_code) & ~(uint64_t)in->code_tag;
  if (!code) return 0;
  if (!gmt_python_load(own->code_block, in->code_read & (GMT_PYTHON_CODE_BYTES - 1), code)) {
    own->failed = 1;
    return 0;
  }
  return gmt_code_word(own, GMT_PYTHON_OBJECT_TYPE) == in->code_type ? code : 0;
}

GMT_INLINE uint64_t gmt_python_position(const struct gmt_python_interpreter *in, const struct gmt_python_scratch *own) {
  if (in->position == GMT_POSITION_POINTER) return gmt_frame_word(own, in->frame_position);
  return gmt_frame_half(own, in->frame_position);
}

GMT_INLINE uint32_t gmt_python_offset(const struct gmt_python_interpreter *in, uint64_t code, uint64_t position) {
  int64_t offset = in->position == GMT_POSITION_POINTER
                       ? (int64_t)(position - code - in->code_bytes)
                       : (int64_t)(int32_t)position * (in->position == GMT_POSITION_UNITS ? 2 : 1);
  return offset < 0 ? ~0u : (uint32_t)offset;
}

/// One frame; a callback of bpf_loop, 1 ends it.
static long gmt_python_step(uint32_t index, void *data) {
  struct gmt_python_walk *walk = data;
  const struct gmt_python_interpreter *in = walk->in;
  struct gmt_python_scratch *own = walk->own;
  uint64_t code = gmt_python_read_frame(in, own);
  if (!code) return own->failed || ++own->shims > GMT_PYTHON_MOST_SHIMS || !own->frame;
  uint32_t depth = own->depth;
  if (depth >= GMT_MAX_FRAMES) {
    own->cut = 1;
    return 1;
  }
  uint64_t print = 0;
  if (!gmt_python_print(in, own, &print)) {
    own->failed = 1;
    return 1;
  }
  uint64_t position = gmt_python_position(in, own);
  uint64_t key = gmt_mix(own->seed ^ code, print);
  own->hash = own->hash * GMT_MIX_B + gmt_mix(key, position);
  if (own->fill) {
    struct gmt_python_frame *kept = &own->stack.frames[depth & (GMT_MAX_FRAMES - 1)];
    kept->code = key;
    kept->offset = gmt_python_offset(in, code, position);
    gmt_python_tell_code(walk, key);
    if (own->lost) return 1;
  }
  own->depth = depth + 1;
  return !own->frame;
}

/// Gives the hash, 0 where memory could not be read.
GMT_INLINE uint64_t gmt_python_follow(struct gmt_python_walk *walk, uint8_t fill) {
  struct gmt_python_scratch *own = walk->own;
  own->fill = fill;
  bpf_loop(GMT_MAX_FRAMES + 1 + GMT_PYTHON_MOST_SHIMS, gmt_python_step, walk, 0);
  if (own->failed || own->depth == 0) return 0;
  uint64_t hash = gmt_mix(own->hash, own->depth * 2 + own->cut);
  return hash ? hash : 1;
}

/// Walks again to describe the stack. False: a record could not be queued.
static __noinline bool gmt_python_describe(struct gmt_python_walk *walk, uint32_t thread, uint64_t hash) {
  struct gmt_python_scratch *own = walk->own;
  own->part.head.thread = own->stack.head.thread = thread;
  if (!gmt_python_begin(walk) || gmt_python_follow(walk, 1) != hash || own->lost) return false;
  own->stack.head.type = GMT_UP_PYTHON_STACK;
  own->stack.head.time = bpf_ktime_get_ns();
  own->stack.head.stack = hash;
  own->stack.depth = own->depth;
  own->stack.cut = own->cut;
  uint64_t depth = own->depth;
  if (depth > GMT_MAX_FRAMES) return false;
  return gmt_put(&own->stack, offsetof(struct gmt_up_python_stack, frames) + depth * sizeof(struct gmt_python_frame));
}

/// A 64-bit name of the thread's Python stack, which is queued the first time; 0: there is none, or it could not be had (counted).
static __noinline uint64_t gmt_python_stack_of(struct gmt_up_target *target, uint32_t thread) {
  if (!target) return 0;
  uint32_t place = target->interpreter;
  struct gmt_python_walk walk = {.in = bpf_map_lookup_elem(&gmt_interpreters, &place)};
  if (!walk.in || !walk.in->runtime) return 0;
  walk.own =
      bpf_task_storage_get(&gmt_python_scratches, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!walk.own) {
    gmt_lose(target, GMT_UP_LOST_STACK);
    return 0;
  }
  uint64_t hash = gmt_python_begin(&walk) ? gmt_python_follow(&walk, 0) : 0;
  if (!hash) {
    if (walk.own->failed) gmt_lose(target, GMT_UP_LOST_STACK);
    return 0;
  }
  if (bpf_map_lookup_elem(&gmt_python_stacks, &hash)) return hash;
  uint8_t seen = 1;
  if (bpf_map_update_elem(&gmt_python_stacks, &hash, &seen, BPF_NOEXIST) == GMT_EEXIST) return hash;
  if (gmt_python_describe(&walk, thread, hash)) return hash;
  bpf_map_delete_elem(&gmt_python_stacks, &hash);
  gmt_lose(target, GMT_UP_LOST_STACK);
  return 0;
}

#include "native_stack.bpf.h"

/// The hash of the thread's Python stack; where it has none, of its native one if that is wanted.
GMT_INLINE uint64_t gmt_python_stack(struct pt_regs *ctx, struct gmt_here *here) {
  uint64_t hash = here->target->interpreter ? gmt_python_stack_of(here->target, here->state->number) : 0;
  if (hash || !want_native_stacks || here->node_runs) return hash;
  return gmt_native_stack_of(ctx, here->target, here->state->number);
}
