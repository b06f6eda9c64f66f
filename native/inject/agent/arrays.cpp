#include "inject/agent/arrays.h"

#include <errno.h>
#include <string.h>

#include "inject/hooks/autograd.h"
#include "inject/log/stacks.h"

namespace gmt::inject {
namespace {

const PythonApi *g_api;
uint64_t g_look_at;  ///< ns; 0 = no look is wanted
Py *g_cupy_hooks, *g_cupy_hook, *g_cupy_allocator;
__thread bool t_hooked __attribute__((tls_model("initial-exec")));

Py *none() {
  g_api->hold(g_api->none);
  return g_api->none;
}

uint64_t number_of(Py *value) {
  const uint64_t number = g_api->as_number(value);
  if (number == ~0ull) g_api->error_clear();
  return number;
}

/// The event of an array at `address`; `walk`: the stack that is remembered of it, null for the calling thread's.
void write_array(uint8_t kind, uint64_t address, uint64_t bytes, uint64_t device, python::Walk *walk) {
  Thread &thread = t_thread;
  if (address == 0 || bytes == 0 || !log_generation() || !enter(thread)) return;
  const int saved = errno;
  bool ending = false;
  const bool comes = kind == GMT_TENSOR_ALLOC;
  const uint32_t stack = !comes ? 0 : walk ? remembered_stack(thread, *walk) : python_stack(thread, &ending);
  if (ending || (!comes && python::finalizing())) mark_ending(thread);
  if (ensure(thread, 8)) {
    if (comes) write_autograd(thread, true);
    write_event(thread, kind, static_cast<uint8_t>(device), address, bytes, stack);
  }
  leave(thread);
  errno = saved;
}

/// What a call has under a name; ~0: nothing.
uint64_t named(Py *const *values, Py *names, const char *wanted) {
  const ssize_t count = names ? g_api->tuple_size(names) : 0;
  for (ssize_t i = 0; i < count; i++) {
    ssize_t bytes = 0;
    const char *name = g_api->text_bytes(g_api->tuple_item(names, i), &bytes);
    if (name && strcmp(name, wanted) == 0) return number_of(values[i]);
  }
  return ~0ull;
}

Py *report(uint8_t kind, Py *const *values, Py *names) {
  const uint64_t address = named(values, names, "mem_ptr"), bytes = named(values, names, "mem_size");
  const uint64_t device = named(values, names, "device_id");
  if (address != ~0ull && bytes != ~0ull && device < GMT_DEVICE_NONE) write_array(kind, address, bytes, device, nullptr);
  return none();
}

void hook_thread() {
  t_hooked = true;  // also where it fails: it is not tried for each allocation
  Py *hooks = g_api->call(g_cupy_hooks, nullptr);
  Py *add = hooks ? g_api->attribute(hooks, "__setitem__") : nullptr;
  Py *name = g_api->text("gpu_memtrace", strlen("gpu_memtrace"));
  Py *added = add && name ? g_api->call(add, name, g_cupy_hook, nullptr) : nullptr;
  if (!added) g_api->error_clear();
  Py *const mine[] = {hooks, add, name, added};
  for (Py *each : mine)
    if (each) g_api->drop(each);
}

}  // namespace

void use_arrays(const PythonApi &api) { g_api = &api; }

Py *array_came(Py *, Py *const *arguments, ssize_t count) {
  if (count != 5) return none();
  python::Walk walk;
  const ssize_t depth = g_api->list_size(arguments[3]);
  walk.cut = depth > static_cast<ssize_t>(GMT_MAX_FRAMES);
  walk.depth = depth < 0 ? 0 : walk.cut ? GMT_MAX_FRAMES : static_cast<uint32_t>(depth);
  for (uint32_t i = 0; i < walk.depth; i++) {
    const uint64_t offset = number_of(g_api->list_item(arguments[4], i));
    walk.frames[i] = python::remembered_frame(g_api->list_item(arguments[3], i), static_cast<uint32_t>(offset));
  }
  write_array(GMT_TENSOR_ALLOC, number_of(arguments[0]), number_of(arguments[1]), number_of(arguments[2]), &walk);
  return none();
}

Py *array_gone(Py *, Py *const *arguments, ssize_t count) {
  if (count == 3)
    write_array(GMT_TENSOR_FREE, number_of(arguments[0]), number_of(arguments[1]), number_of(arguments[2]), nullptr);
  return none();
}

Py *set_look(Py *, Py *const *arguments, ssize_t count) {
  if (count == 1) {
    const uint64_t at = clock_ns(CLOCK_MONOTONIC) + number_of(arguments[0]) * 1'000'000;
    __atomic_store_n(&g_look_at, at, __ATOMIC_RELAXED);
  }
  return none();
}

bool look_due() {
  const uint64_t at = __atomic_load_n(&g_look_at, __ATOMIC_RELAXED);
  return at != 0 && log_generation() && !asleep() && clock_ns(CLOCK_MONOTONIC) >= at;
}

Py *watch_cupy(Py *, Py *const *arguments, ssize_t count) {
  if (count != 3) return none();
  for (ssize_t i = 0; i < count; i++) g_api->hold(arguments[i]);
  g_cupy_hooks = arguments[0];
  g_cupy_hook = arguments[1];
  g_cupy_allocator = arguments[2];
  return none();
}

Py *cupy_allocate(Py *, Py *const *arguments, ssize_t count) {
  if (!t_hooked) hook_thread();
  return g_api->call(g_cupy_allocator, count == 1 ? arguments[0] : nullptr, nullptr);
}

Py *cupy_given(Py *, Py *const *arguments, ssize_t count, Py *names) {
  return report(GMT_TENSOR_ALLOC, arguments + count, names);
}

Py *cupy_taken(Py *, Py *const *arguments, ssize_t count, Py *names) {
  return report(GMT_TENSOR_FREE, arguments + count, names);
}

Py *cupy_nothing(Py *, Py *const *, ssize_t, Py *) { return none(); }

}  // namespace gmt::inject
