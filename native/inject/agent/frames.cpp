#include "python/frames.h"

#include <stddef.h>

#include "inject/agent/natives.h"
#include "python/interpreter.h"

namespace gmt::inject {
namespace {

// PyFrameObject of 3.9 (Include/cpython/frameobject.h): 3 words of a variable object, f_back, f_code, f_builtins, f_globals,
// f_locals, f_valuestack, f_stacktop, f_trace, two flags, f_gen, three ints and f_executing, 20 blocks of 12 bytes. 3.10 has
// f_stackdepth as an int and one word less. From 3.11 on the object names an internal frame: 8 pointers, 8 bytes, the variables.
constexpr size_t kVariables39 = 360, kVariables310 = 352, kInner = 24, kInnerVariables = 72;

using python::load;

/// Where the frame's variables begin; null: unknown.
const char *variables(const void *frame) {
  switch (python::version_hex() >> 16) {
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

Py *frame_values(Py *frame, uint32_t count) {
  const char *at = variables(frame);
  Py *list = at ? g_api->list_new(0) : nullptr;
  for (uint32_t i = 0; list && i < count; i++) {
    Py *value = load<Py *>(at, i * sizeof(Py *));
    if (g_api->list_append(list, value ? value : g_api->none) == 0) continue;
    g_api->error_clear();
    g_api->drop(list);
    list = nullptr;
  }
  return list;
}

}  // namespace gmt::inject
