#include "inject/agent/arrays.h"

#include <string.h>

#include "inject/hooks/autograd.h"
#include "inject/log/stacks.h"
#include "python/interpreter.h"

namespace gmt::inject {
namespace {

uint64_t g_look_at;  ///< ns; 0 = no look is expected

/// A PooledMemory of CuPy: behind the object's head, or behind the table of its methods too.
struct Pooled {
  uint64_t address, bytes;
  int32_t device;
};
using Forget = void (*)(Py *);
constexpr size_t kPlaces[] = {16, 24}, kElsewhere = ~size_t{0};
constexpr size_t kDeallocate = 48;  ///< of a class: tp_dealloc, in every build with the GIL
size_t g_pooled_at;                 ///< 0 = not known yet
Py *g_cupy_class, *g_cupy_allocator;
Forget g_cupy_forget;  ///< what the class had there; null: not watched

/// The event of an array at `address`; `walk`: the stack that is remembered of it, null for the calling thread's.
void write_array(uint8_t kind, uint64_t address, uint64_t bytes, uint64_t device, python::Walk *walk) {
  Thread &thread = t_thread;
  if (address == 0 || bytes == 0 || !log_generation() || !enter(thread)) return;
  const KeptErrno kept;
  bool ending = false;
  const bool comes = kind == GMT_TENSOR_ALLOC;
  const uint32_t stack = !comes ? 0 : walk ? remembered_stack(thread, *walk) : python_stack(thread, &ending);
  if (ending || (!comes && python::finalizing())) mark_ending(thread);
  if (ensure(thread, 8)) {
    if (comes) write_autograd(thread, true);
    write_event(thread, kind, static_cast<uint8_t>(device), address, bytes, stack);
  }
  leave(thread);
}

bool has(Py *object, const char *name, uint64_t expected) {
  const Held value(g_api->attribute(object, name));
  return (value ? number_of(value) : ~0ull) == expected;
}

/// The class's deallocator, which runs on whichever thread lets go of the memory last.
void forget_pooled(Py *memory) {
  const Pooled gone = python::load<Pooled>(memory, g_pooled_at);  // a pointer of 0: it went before
  write_array(GMT_TENSOR_FREE, gone.address, gone.bytes, static_cast<uint64_t>(gone.device), nullptr);
  g_cupy_forget(memory);
}

/// The first memory of CuPy's pool shows whether it is laid out as this file takes it; then its end is seen too.
void watch_pooled(Py *memory) {
  g_pooled_at = kElsewhere;
  for (const size_t place : kPlaces) {
    const Pooled seen = python::load<Pooled>(memory, place);
    if (has(memory, "ptr", seen.address) && has(memory, "size", seen.bytes) &&
        has(memory, "device_id", static_cast<uint64_t>(seen.device)))
      g_pooled_at = place;
  }
  if (g_pooled_at == kElsewhere) return;
  g_cupy_forget = python::load<Forget>(g_cupy_class, kDeallocate);
  const Forget own = forget_pooled;
  memcpy(reinterpret_cast<char *>(g_cupy_class) + kDeallocate, &own, sizeof own);
}

}  // namespace

Py *tell_array(Py *, Py *const *arguments, ssize_t count) {
  python::Walk walk;
  const ssize_t depth = count == 5 ? g_api->list_size(arguments[3]) : 0;
  walk.cut = depth > static_cast<ssize_t>(GMT_MAX_FRAMES);
  walk.depth = depth < 0 ? 0 : walk.cut ? GMT_MAX_FRAMES : static_cast<uint32_t>(depth);
  for (uint32_t i = 0; i < walk.depth; i++) {
    const uint64_t offset = number_of(g_api->list_item(arguments[4], i));
    walk.frames[i] = python::remembered_frame(g_api->list_item(arguments[3], i), static_cast<uint32_t>(offset));
  }
  if (count >= 3)
    write_array(count == 5 ? GMT_TENSOR_ALLOC : GMT_TENSOR_FREE, number_of(arguments[0]), number_of(arguments[1]),
                number_of(arguments[2]), &walk);
  return none();
}

void set_look(uint64_t milliseconds) {
  __atomic_store_n(&g_look_at, clock_ns(CLOCK_MONOTONIC) + milliseconds * 1'000'000, __ATOMIC_RELAXED);
}

bool look_due() {
  const uint64_t at = __atomic_load_n(&g_look_at, __ATOMIC_RELAXED);
  return at != 0 && log_generation() && !asleep() && clock_ns(CLOCK_MONOTONIC) >= at;
}

void watch_cupy(Py *pooled, Py *allocator) {
  g_api->hold(g_cupy_class = pooled);
  g_api->hold(g_cupy_allocator = allocator);
}

Py *cupy_allocate(Py *, Py *const *arguments, ssize_t count) {
  Py *given = g_api->call(g_cupy_allocator, count == 1 ? arguments[0] : nullptr, nullptr);
  if (!given) return nullptr;
  const Held memory(g_api->attribute(given, "mem"));
  if (!memory) return given;
  // Memory of no pool, or of another one, is the driver's.
  if (python::load<Py *>(memory, GMT_PYTHON_OBJECT_TYPE) == g_cupy_class) {
    if (!g_pooled_at) watch_pooled(memory);
    if (g_cupy_forget) {
      const Pooled come = python::load<Pooled>(memory, g_pooled_at);
      write_array(GMT_TENSOR_ALLOC, come.address, come.bytes, static_cast<uint64_t>(come.device), nullptr);
    }
  }
  return given;
}

}  // namespace gmt::inject
