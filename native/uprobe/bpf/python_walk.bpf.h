#pragma once
// Python stacks of the thread that a program runs on, for CPython 3.9 to 3.14: the walk of native/python, in BPF.
//
// Safe for the same reasons: the thread is in the probed call, so it neither pushes nor pops frames, and a frame that is active owns
// its code object. All memory of the process is untrusted: a read that fails ends the walk, a wrong one gives wrong names.
//
//   every event: the frames are hashed       (gmt_python_stack; two reads a frame from 3.12 on, some more before)
//   a new hash:  walked again, kept, queued  (code objects at first sight: python_code.bpf.h)
#include "python_code.bpf.h"

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
  if (!gmt_python_load_word(&ending, in->runtime + in->at.finalizing) || ending) return false;
  uint64_t state = gmt_python_thread_state(in, thread);
  if (!state) return false;
  own->failed = !gmt_python_load(own->code_block, in->thread_read & (GMT_PYTHON_THREAD_BYTES - 1), state);
  // What a key of an earlier life of the interpreter left behind is no state of this thread.
  if (own->failed || gmt_code_word(own, in->thread_id) != thread) return false;
  own->frame = gmt_code_word(own, in->at.thread_frame);
  if (in->at.cframe_frame != GMT_PYTHON_NONE && own->frame)
    own->failed = !gmt_python_load_word(&own->frame, own->frame + in->at.cframe_frame);
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
  own->frame = gmt_frame_word(own, in->at.frame_previous);
  if (in->at.frame_owner != GMT_PYTHON_NONE && gmt_frame_byte(own, in->at.frame_owner) >= GMT_PYTHON_OWNER_SHIM)
    return 0;
  uint64_t code = gmt_frame_word(own, in->at.frame_code) & ~(uint64_t)in->at.frame_code_tag;
  if (!code) return 0;
  if (!gmt_python_load(own->code_block, in->code_read & (GMT_PYTHON_CODE_BYTES - 1), code)) {
    own->failed = 1;
    return 0;
  }
  return gmt_code_word(own, GMT_PYTHON_OBJECT_TYPE) == in->code_type ? code : 0;
}

GMT_INLINE uint64_t gmt_python_position(const struct gmt_python_interpreter *in, const struct gmt_python_scratch *own) {
  if (in->at.position == GMT_POSITION_POINTER) return gmt_frame_word(own, in->at.frame_position);
  return gmt_frame_half(own, in->at.frame_position);
}

GMT_INLINE uint32_t gmt_python_offset(const struct gmt_python_interpreter *in, uint64_t code, uint64_t position) {
  int64_t offset = in->at.position == GMT_POSITION_POINTER
                       ? (int64_t)(position - code - in->at.code_bytes)
                       : (int64_t)(int32_t)position * (in->at.position == GMT_POSITION_UNITS ? 2 : 1);
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
  walk.own = gmt_own_scratch(target);
  if (!walk.own) return 0;
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
