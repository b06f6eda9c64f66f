#pragma once
// The interpreter that was found, as the walk needs it. Written once by `discover`, before `ready` is.
#include <atomic>
#include <cstdint>
#include <cstring>

#include "python/frames.h"
#include "python/python_layouts.h"

namespace gmt::python {

/// What each walk reads comes first.
struct alignas(64) Interpreter {
  const char *runtime;              ///< &_PyRuntime
  const void *code_type;            ///< &PyCode_Type
  void *(*specific)(unsigned key);  ///< pthread_getspecific
  uint64_t (*hash)(const Interpreter &, const char *thread);
  /// Whether _PyRuntime's thread key lies where the layout says: 0 not checked yet, 1 yes, 2 no.
  std::atomic<uint32_t> key_checked;
  std::atomic<bool> ready;
  /// The code of `torch.nn.Module.__call__`; null: not seen (yet), or not looked for any more.
  std::atomic<const void *> module_call;
  Layout layout;

  bool (*fill)(const Interpreter &, const char *thread, Walk &);
  void *(*thread_state)();  ///< PyGILState_GetThisThreadState: needs no GIL
  uint32_t version;
};

extern Interpreter interpreter;

/// Sets `hash` and `fill` to the code for `layout`.
void choose_walk(Interpreter &found);

template <class T>
[[gnu::always_inline]] inline T load(const void *base, size_t offset) {
  T value;
  memcpy(&value, static_cast<const char *>(base) + offset, sizeof value);
  return value;
}

}  // namespace gmt::python
