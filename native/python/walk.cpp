// The walk itself, compiled once for each known layout, so that offsets are constants, and once for any other.
#include "python/code_deaths.h"
#include "python/interpreter.h"
#include "python/mix.h"

namespace gmt::python {
namespace {

/// More shims than this in one chain, and it is taken for a damaged one.
constexpr uint32_t kMaxShims = 2 * GMT_MAX_FRAMES;

[[gnu::always_inline]] inline const char *innermost(const Layout &layout, const char *thread) {
  auto *frame = load<const char *>(thread, layout.thread_frame);
  if (layout.cframe_frame != GMT_PYTHON_NONE && frame) frame = load<const char *>(frame, layout.cframe_frame);
  return frame;
}

/// The frame's code object, or null if it is a shim of the interpreter.
[[gnu::always_inline]] inline const char *code_of(const Layout &layout, const void *code_type, const char *frame) {
  if (layout.frame_owner != GMT_PYTHON_NONE && load<uint8_t>(frame, layout.frame_owner) >= GMT_PYTHON_OWNER_SHIM)
    return nullptr;
  auto bits = load<uintptr_t>(frame, layout.frame_code) & ~static_cast<uintptr_t>(layout.frame_code_tag);
  auto *code = reinterpret_cast<const char *>(bits);
  return code && load<const void *>(code, GMT_PYTHON_OBJECT_TYPE) == code_type ? code : nullptr;
}

[[gnu::always_inline]] inline uint64_t position_of(const Layout &layout, const char *frame) {
  if (layout.position == GMT_POSITION_POINTER) return load<uint64_t>(frame, layout.frame_position);
  return load<uint32_t>(frame, layout.frame_position);
}

[[gnu::always_inline]] inline uint32_t offset_of(const Layout &layout, const char *code, uint64_t position) {
  int64_t offset = layout.position == GMT_POSITION_POINTER
                       ? static_cast<int64_t>(position - reinterpret_cast<uint64_t>(code) - layout.code_bytes)
                       : static_cast<int32_t>(position) * (layout.position == GMT_POSITION_UNITS ? 2 : 1);
  return offset < 0 ? ~0u : static_cast<uint32_t>(offset);
}

/// A polynomial over the frames: one add and one multiply between two of them, so that the chain of `previous`
/// pointers and not the hash bounds the speed. The rotation takes the count's bits off those of the address.
[[gnu::always_inline]] inline uint64_t add_frame(uint64_t hash, const char *code, uint64_t deaths, uint64_t position) {
  uint64_t identity = reinterpret_cast<uint64_t>(code) + (deaths << 48 | deaths >> 16);
  return hash * kMixB + fold(identity, position ^ kMixA);
}

/// A module's method has the module there.
[[gnu::always_inline]] inline uint64_t first_local(const Layout &layout, const char *frame) {
  return load<uint64_t>(frame, layout.frame_first_local) & ~static_cast<uint64_t>(layout.frame_code_tag);
}

struct Chain {
  uint64_t hash;
  uint64_t module;
  uint32_t depth;
  bool cut;
};

template <class Each>
[[gnu::always_inline]] inline Chain follow(const Layout &layout, const void *code_type, const char *thread, Each each) {
  Chain chain = {kMixA, 0, 0, false};
  const void *module_call = interpreter.module_call.load(std::memory_order_relaxed);
  const char *call = nullptr;  // the innermost one of a module
  uint32_t shims = 0;
  for (const char *frame = innermost(layout, thread); frame; frame = load<const char *>(frame, layout.frame_previous)) {
    const char *code = code_of(layout, code_type, frame);
    if (__builtin_expect(code == nullptr, 0)) {
      if (++shims > kMaxShims) break;
      continue;
    }
    if (__builtin_expect(chain.depth == GMT_MAX_FRAMES, 0)) {
      chain.cut = true;
      break;
    }
    call = (code == module_call) & (call == nullptr) ? frame : call;
    uint64_t deaths = deaths_at(code);
    uint64_t position = position_of(layout, frame);
    chain.hash = add_frame(chain.hash, code, deaths, position);
    each(chain.depth++, code, deaths, position);
  }
  if (call) chain.module = first_local(layout, call);
  uint64_t end = fold(chain.hash ^ kMixB, kMixA + chain.depth * 2 + chain.cut + chain.module * kMixB);
  chain.hash = chain.depth == 0 ? 0 : end ? end : 1;
  return chain;
}

/// `known`: what the code is compiled for; null: the interpreter's own layout.
template <const Layout *known>
[[gnu::always_inline]] inline const Layout &its_layout(const Interpreter &found) {
  return known == nullptr ? found.layout : *known;
}
template <const Layout *known>
[[gnu::hot]] uint64_t hash_by(const Interpreter &found, const char *thread) {
  return follow(its_layout<known>(found), found.code_type, thread, [](auto...) {}).hash;
}
template <const Layout *known>
bool fill_by(const Interpreter &found, const char *thread, Walk &out) {
  const Layout &layout = its_layout<known>(found);
  Chain chain = follow(layout, found.code_type, thread,
                       [&](uint32_t index, const char *code, uint64_t deaths, uint64_t position) {
                         out.frames[index] = {code, deaths, offset_of(layout, code, position)};
                       });
  out.hash = chain.hash;
  out.module = reinterpret_cast<const void *>(chain.module);
  out.depth = chain.depth;
  out.cut = chain.cut;
  return chain.depth != 0;
}

/// False: `known` is not the interpreter's layout.
template <const Layout *known>
bool choose(Interpreter &found) {
  Layout same = its_layout<known>(found);
  same.finalizing = found.layout.finalizing;
  same.thread_key = found.layout.thread_key;
  if (same != found.layout) return false;
  found.hash = hash_by<known>;
  found.fill = fill_by<known>;
  return true;
}

/// Compares the thread key in _PyRuntime with the function that is meant for it, on the first thread that has a state.
[[gnu::noinline]] const char *state_by_function() {
  auto *thread = static_cast<const char *>(interpreter.thread_state());
  if (thread && interpreter.key_checked.load(std::memory_order_relaxed) == 0) {
    auto created = load<uint32_t>(interpreter.runtime, interpreter.layout.thread_key);
    auto key = load<uint32_t>(interpreter.runtime, interpreter.layout.thread_key + 4u);
    bool agrees = created == 1 && key < 1024 && interpreter.specific(key) == thread;
    interpreter.key_checked.store(agrees ? 1 : 2, std::memory_order_relaxed);
  }
  return thread;
}

/// The calling thread's state; null without one. The key is read anew each time: a forked child makes a new one.
[[gnu::always_inline]] inline const char *thread_state() {
  if (__builtin_expect(interpreter.key_checked.load(std::memory_order_relaxed) != 1, 0)) return state_by_function();
  const char *slot = interpreter.runtime + interpreter.layout.thread_key;
  if (__builtin_expect(load<uint32_t>(slot, 0) != 1, 0)) return nullptr;
  return static_cast<const char *>(interpreter.specific(load<uint32_t>(slot, 4)));
}

/// Null also while the interpreter finalizes: it then frees the states of other threads, and their frames.
[[gnu::always_inline]] inline const char *walkable_thread() {
  if (!interpreter.ready.load(std::memory_order_acquire)) return nullptr;
  return __atomic_load_n(finalizing_word, __ATOMIC_ACQUIRE) != 0 ? nullptr : thread_state();
}

}  // namespace

void choose_walk(Interpreter &found) {
  choose<&kLayout39>(found) || choose<&kLayout310>(found) || choose<&kLayout311>(found) || choose<&kLayout312>(found) ||
      choose<&kLayout313>(found) || choose<&kLayout314>(found) || choose<nullptr>(found);
}

[[gnu::hot]] uint64_t walk_hash() {
  const char *thread = walkable_thread();
  return thread ? interpreter.hash(interpreter, thread) : 0;
}

[[gnu::hot]] const void *innermost_frame() {
  const char *thread = walkable_thread();
  return thread ? innermost(interpreter.layout, thread) : nullptr;
}

bool walk(Walk &out) {
  const char *thread = walkable_thread();
  if (thread) return interpreter.fill(interpreter, thread, out);
  out.hash = 0;
  out.module = nullptr;
  out.depth = 0;
  out.cut = false;
  return false;
}

}  // namespace gmt::python
