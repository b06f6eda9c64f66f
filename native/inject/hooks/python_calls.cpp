#include "inject/hooks/python_calls.h"

#include "inject/hooks/elf.h"
#include "inject/log/stacks.h"

namespace gmt::inject {
namespace {

constexpr char kLibrary[] = "libtorch_python.so";

/// One of the two functions. `unbound`: what its slot holds until the dynamic loader has bound it.
struct Followed {
  void **slot;
  void *unbound;
  void *original;
};
Followed g_save, g_restore;
enum : uint32_t { kUnknown, kSearching, kUnbound, kFollowed, kNever };
GMT_HOT_STATE uint32_t g_state;

/// PyEval_SaveThread: the GIL is given up. No frame can continue before the function that is called here takes it again.
GMT_HOT void *save_thread() {
  t_thread.call_frame = reinterpret_cast<uintptr_t>(python::innermost_frame());
  return reinterpret_cast<void *(*)()>(g_save.original)();
}

/// PyEval_RestoreThread. The last thing that this does has to be a jump: it may end the thread, which unwinds its stack.
GMT_HOT void restore_thread(void *state) {
  t_thread.call_frame = 0;
  return reinterpret_cast<void (*)(void *)>(g_restore.original)(state);
}

bool find(Followed &followed, const char *name) {
  const ImportSlot slot = import_slot(kLibrary, name);
  followed.slot = slot.at;
  followed.unbound = slot.at && !slot.bound ? *slot.at : nullptr;
  return slot.at != nullptr;
}

/// Keeps what the slot leads to. False: the loader has not bound it; it does so in the first call, and would overwrite ours.
bool is_bound(Followed &followed) {
  followed.original = __atomic_load_n(followed.slot, __ATOMIC_ACQUIRE);
  return followed.original != followed.unbound;
}

GMT_COLD uint32_t follow(uint32_t state) {
  if (state == kUnknown && (!find(g_save, "PyEval_SaveThread") || !find(g_restore, "PyEval_RestoreThread")))
    return kNever;
  if (!is_bound(g_save) || !is_bound(g_restore)) return kUnbound;
  // The end first: what begins unseen is walked each time; what ended unseen would be a stack that is none. A thread that is still in
  // the loader for this slot overwrites it: `g_call_ends` shows that.
  const auto hook = reinterpret_cast<void *>(restore_thread);
  g_call_ends = {g_restore.slot, hook};
  set_import_slot(g_restore.slot, hook);
  if (__atomic_load_n(g_restore.slot, __ATOMIC_ACQUIRE) != hook) return kNever;
  set_import_slot(g_save.slot, reinterpret_cast<void *>(save_thread));
  return kFollowed;
}

GMT_COLD void try_to_follow(uint32_t state) {
  if (!__atomic_compare_exchange_n(&g_state, &state, kSearching, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
  __atomic_store_n(&g_state, follow(state), __ATOMIC_RELEASE);
}

}  // namespace

GMT_HOT void follow_python_calls() {
  const uint32_t state = __atomic_load_n(&g_state, __ATOMIC_RELAXED);
  if (__builtin_expect(state != kFollowed, 0) && (state == kUnknown || state == kUnbound)) try_to_follow(state);
}

}  // namespace gmt::inject
