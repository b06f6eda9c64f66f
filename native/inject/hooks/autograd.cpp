#include "inject/hooks/autograd.h"

#include "inject/hooks/elf.h"
#include "inject/hooks/running_node.h"
#include "inject/log/stacks.h"

namespace gmt::inject {
namespace {

using PeekFunction = uint64_t (*)();
using ThreadFunction = uint64_t (*)();

PeekFunction g_peek;
ThreadFunction g_thread_id;
GMT_HOT_STATE uint32_t g_sees_nodes;
enum : uint32_t { kUnresolved, kResolving, kReady, kCannot, kNoTorch };
GMT_HOT_STATE uint32_t g_state;
unsigned long long g_resolved_at;  ///< libraries_added() when PyTorch was not there: it may be imported long after CUDA

GMT_COLD uint32_t resolve_functions() {
  g_resolved_at = libraries_added();
  g_peek = reinterpret_cast<PeekFunction>(find_symbol("libtorch_cpu.so", "_ZN2at15sequence_number4peekEv"));
  g_thread_id =
      reinterpret_cast<ThreadFunction>(find_symbol("libtorch_cpu.so", "_ZN2at14RecordFunction15currentThreadIdEv"));
  if (find_running_node() && g_peek) return kReady;
  return find_symbol("libtorch_cpu.so", "_ZTIN5torch8autograd4NodeE") ? kCannot : kNoTorch;
}

GMT_COLD bool becomes_ready(uint32_t state) {
  if (state == kResolving || state == kCannot || (state == kNoTorch && libraries_added() == g_resolved_at))
    return false;
  if (!__atomic_compare_exchange_n(&g_state, &state, kResolving, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  state = resolve_functions();
  __atomic_store_n(&g_state, state, __ATOMIC_RELEASE);
  return state == kReady;
}

[[gnu::always_inline]] inline bool ready() {
  const uint32_t state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  return __builtin_expect(state == kReady, 1) || becomes_ready(state);
}

/// Once per process, where PyTorch is there but lacks what is needed.
GMT_COLD void report_unreadable(Thread &thread) {
  static uint32_t reported;
  if (reported) return;
  reported = 1;
  write_note(thread, GMT_NOTE_AUTOGRAD_UNREADABLE,
             "This PyTorch does not export what ties backward allocations to forward lines: they carry the line of "
             "backward().");
}

GMT_COLD uint32_t ask_torch_thread(Thread &thread) {
  if (g_thread_id) thread.torch_thread = static_cast<uint32_t>(g_thread_id());
  return thread.torch_thread;
}

/// PyTorch counts its threads from 1: the low half is all of it.
[[gnu::always_inline]] inline uint32_t torch_thread(Thread &thread) {
  return __builtin_expect(thread.torch_thread != 0, 1) ? thread.torch_thread : ask_torch_thread(thread);
}

gmt_autograd autograd_state(bool has_stack) {
  if (!ready() || (has_stack && g_log.lean)) return {0, 0, GMT_AUTOGRAD_NONE};
  if (has_stack) {
    // Where node numbers are seen being given out, they say more than this.
    if (__atomic_load_n(&g_sees_nodes, __ATOMIC_RELAXED)) return {0, 0, GMT_AUTOGRAD_NONE};
    return {g_peek(), torch_thread(t_thread), GMT_AUTOGRAD_FORWARD};
  }
  gmt_autograd state{0, 0, GMT_AUTOGRAD_NONE};
  if (running_node(t_thread, &state.sequence, &state.thread)) state.role = GMT_AUTOGRAD_BACKWARD;
  // Which node, nobody could tell: one record says it of the whole pass.
  if (g_log.lean && state.role) state = {GMT_SEQUENCE_ACCUMULATE, 0, GMT_AUTOGRAD_BACKWARD};
  return state;
}

}  // namespace

GMT_HOT void write_autograd(Thread &thread, bool has_stack) {
  if (__builtin_expect(__atomic_load_n(&g_state, __ATOMIC_RELAXED) == kCannot, 0)) report_unreadable(thread);
  const gmt_autograd state = autograd_state(has_stack);
  if (state.role == thread.autograd_role && state.sequence == thread.autograd_sequence) return;
  if (state.role == GMT_AUTOGRAD_NONE && thread.autograd_role == GMT_AUTOGRAD_NONE) return;
  if (!write_small(thread, GMT_AUTOGRAD, state)) return;
  thread.autograd_role = state.role;
  thread.autograd_sequence = state.sequence;
}

GMT_HOT void node_made(uint64_t sequence) {
  if (!log_generation() || g_log.lean || !ready()) return;  // no CUDA so far
  Thread &thread = t_thread;
  if (!enter(thread)) return;
  if (__builtin_expect(!__atomic_load_n(&g_sees_nodes, __ATOMIC_RELAXED), 0))
    __atomic_store_n(&g_sees_nodes, 1, __ATOMIC_RELAXED);
  const uint32_t stack = python_stack_to_remember(thread);
  if (stack) write_small(thread, GMT_NODE, gmt_node{sequence, stack, torch_thread(thread)});
  leave(thread);
}

}  // namespace gmt::inject

// at::sequence_number::get_and_increment: every Node's constructor asks it for the node's number, through the import slot of its
// library, so a preloaded definition comes first. Views and in-place operations allocate nothing forward but have nodes: this is
// the only place that knows their lines.
extern "C" GMT_HOT __attribute__((visibility("default"))) uint64_t _ZN2at15sequence_number17get_and_incrementEv() {
  using Function = uint64_t (*)();
  GMT_HOT_STATE static Function original;
  Function next = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (__builtin_expect(!next, 0)) {
    next = reinterpret_cast<Function>(
        gmt::inject::find_symbol("libtorch_cpu.so", "_ZN2at15sequence_number17get_and_incrementEv"));
    if (!next) return 0;  // nobody can have called us then
    __atomic_store_n(&original, next, __ATOMIC_RELAXED);
  }
  const uint64_t sequence = next();
  gmt::inject::node_made(sequence);
  return sequence;
}

namespace gmt::inject {

void hook_autograd_by_slots() { redirect_imports({GMT_IMPORT(_ZN2at15sequence_number17get_and_incrementEv)}); }

}  // namespace gmt::inject
