#pragma once
// Python stacks of the calling thread, read without the GIL, for CPython 3.9 to 3.14 (x86-64 and arm64 Linux).
//
// Why this is safe: only a thread itself pushes and pops its frames, and it is inside our call while we look; a
// frame that is active owns its code object. Nothing is written, no reference count is touched.
//
// How a hook uses it:
//   hash = walk_hash();                    every event; 0 = no stack
//   if (unknown(hash)) {
//     walk(stack);                         the same frames, since the thread has not left the hook
//     for (frame : stack) if (unknown(frame.code, frame.deaths)) describe_code(frame, ...);
//   }
// `discover` belongs on a slow path: at the first use of CUDA, and again while it says kNoPython.
#include <cstddef>
#include <cstdint>

#include "wire/layout.h"

namespace gmt::python {

enum class Support : uint32_t {
  kNoPython,     ///< no interpreter in the process, or none that is initialized yet: try again later
  kUnsupported,  ///< final; `unsupported_reason` has the reason
  kReady,        ///< final; the walking functions work
};

/// Looks for an initialized interpreter: libpython (also one loaded with RTLD_LOCAL) or the executable. Any thread
/// may call it, at any time and repeatedly: after a final answer it costs one load, before that it queries the dynamic
/// loader whether a library was added since the last call (about 100 ns). It takes the loader's lock, so call it
/// neither with a lock held that a library's constructor might need, nor in a signal handler.
Support discover();

/// Why Python is unsupported: one sentence in static storage; "" unless `discover` returned kUnsupported.
const char *unsupported_reason();

/// PY_VERSION_HEX of the interpreter that was found, 0 before that.
uint32_t version_hex();

struct Frame {
  const void *code;  ///< the PyCodeObject: an identity, only together with `deaths`
  uint64_t deaths;   ///< of code objects that had this address before
  uint32_t offset;   ///< of the instruction, in bytes, as PyCode_Addr2Line takes it; ~0u: before the first
};

/// A frame as a caller remembers it, by its code object, which has to live until it is described.
Frame remembered_frame(const void *code, uint32_t offset);

struct Walk {
  uint64_t hash;  ///< as walk_hash gives it
  const void
      *module;     ///< the innermost torch.nn.Module that is called; null: none is, or `learn_module_call` knew none
  uint32_t depth;  ///< frames that are filled in, innermost first
  bool cut;        ///< the stack is deeper than GMT_MAX_FRAMES: the outermost frames are missing
  Frame frames[GMT_MAX_FRAMES];
};

/// From here on walks show which module is called, and two of them that call one line have two stacks: `frame` is the call of one
/// (torch/nn/modules/module.py). `caller`: the next older frame, null = none. False: it is none, or was known.
bool learn_module_call(const Frame &frame, const Frame *caller);
/// Modules are no longer distinguished.
void forget_module_call();
/// Name of an object's class as CPython keeps it, without its package where it is a class of Python.
const char *class_name(const void *object);

/// A 64-bit name of the calling thread's Python stack (code objects and instructions of the innermost
/// GMT_MAX_FRAMES frames, and whether there are more). 0: the thread has no Python frames, the interpreter is
/// finalizing, or `discover` has not returned kReady. Never blocks, allocates or fails.
uint64_t walk_hash();

/// The calling thread's innermost frame, also one of the interpreter's own. Null where `walk_hash` gives 0.
const void *innermost_frame();

/// Where the interpreter keeps whether it shuts down; null before `discover` returned kReady.
extern const uintptr_t *finalizing_word;

/// `finalizing`, for when the word is not known: an interpreter that is not supported is called.
bool can_check_finalizing();

/// The interpreter is shutting down: there are no stacks any more, and what is freed now is clean-up.
inline bool finalizing() {
  const uintptr_t *word = __atomic_load_n(&finalizing_word, __ATOMIC_ACQUIRE);
  return __builtin_expect(word != nullptr, 1) ? __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0 : can_check_finalizing();
}

/// The frames behind `walk_hash`. False where that gives 0; then only `hash`, `depth` and `cut` are set.
bool walk(Walk &out);

/// Longest strings that `describe_code` keeps, in bytes of UTF-8.
inline constexpr size_t kMaxFileBytes = 4096;
inline constexpr size_t kMaxNameBytes = 1024;
/// A buffer of this size always takes a description; the line table gets what is left of it.
inline constexpr size_t kMinDescriptionBytes = sizeof(gmt_code_record) + kMaxFileBytes + kMaxNameBytes;

/// Writes the payload of a GMT_CODE record for `frame`'s code object: gmt_code_record, file, (qualified) name, line
/// table. The frame must be on the calling thread's stack, from a `walk` that this thread made since it entered the
/// hook: that keeps the code object alive. A line table that does not fit is left out and GMT_CODE_CUT set. Returns
/// the bytes written, 0 if `capacity` is below kMinDescriptionBytes or Python is not ready.
size_t describe_code(const Frame &frame, uint32_t id, void *buffer, size_t capacity);

}  // namespace gmt::python
