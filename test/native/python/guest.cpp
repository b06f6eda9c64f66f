// Uses every function of the walk, as a guest library does.
#include "python/frames.h"

extern "C" __attribute__((visibility("default"))) size_t guest_use(void *buffer, size_t capacity) {
  using namespace gmt::python;
  if (discover() != Support::kReady) return unsupported_reason()[0] != 0;
  Walk stack;
  if (walk_hash() == 0 || !walk(stack)) return version_hex();
  return describe_code(stack.frames[0], 1, buffer, capacity);
}
