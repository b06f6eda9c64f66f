#include "inject/agent/frames.h"

#include <stddef.h>

#include "python/interpreter.h"

namespace gmt::inject {
namespace {

// PyFrameObject of 3.9 (Include/cpython/frameobject.h): 3 words of a variable object, f_back, f_code, f_builtins, f_globals,
// f_locals, f_valuestack, f_stacktop, f_trace, two flags, f_gen, three ints and f_executing, 20 blocks of 12 bytes. 3.10 has
// f_stackdepth as an int and one word less. From 3.11 on the object names an internal frame: 8 pointers, 8 bytes, the variables.
constexpr size_t kVariables39 = 360, kVariables310 = 352, kInner = 24, kInnerVariables = 72;

using python::load;

/// Where the frame's variables begin; null: unknown.
const char *variables(uint32_t version, const void *frame) {
  switch (version >> 16) {
    case 0x0309:
      return static_cast<const char *>(frame) + kVariables39;
    case 0x030a:
      return static_cast<const char *>(frame) + kVariables310;
    case 0x030b:
    case 0x030c: {
      const char *inner = load<const char *>(frame, kInner);
      return inner ? inner + kInnerVariables : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace

Py *frame_values(const PythonApi &api, uint32_t version, Py *frame, uint32_t count) {
  const char *at = variables(version, frame);
  Py *list = at ? api.list_new(0) : nullptr;
  for (uint32_t i = 0; list && i < count; i++) {
    Py *value = load<Py *>(at, i * sizeof(Py *));
    if (api.list_append(list, value ? value : api.none) == 0) continue;
    api.error_clear();
    api.drop(list);
    list = nullptr;
  }
  return list;
}

}  // namespace gmt::inject
