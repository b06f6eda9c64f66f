#include "inject/hooks/autograd.h"

#include <new>

#include "inject/hooks/elf.h"
#include "inject/hooks/python_calls.h"
#include "inject/log/stacks.h"
#include "torch/torch_layouts.h"
#include "wire/taken.h"

namespace gmt::inject {
namespace {

constexpr char kLibrary[] = "libtorch_cpu.so";

// The node that runs. PyTorch's function for it releases a reference: two atomic operations and code that has left the caches, at each allocation of
// the backward pass. Its answers show where its thread-local variable lies (the one word of the library's thread data that always
// equals them), and from then on that word is read; now and then the function is called again, to be sure.
//
// Which layout a node has, the current node's pointer says: a shared_ptr has a second word, never null where there is a node, and an
// intrusive_ptr has none. Type information would not do: its base class may be any library's own copy.
using torch::NodeLayout;

/// It has a destructor, as far as a compiler can see, and so comes back in memory that each processor's convention names in its own way.
struct SmartPointer {
  void *words[2];
  ~SmartPointer();  // is never called
};
using CurrentNode = SmartPointer (*)();
CurrentNode g_current_node;
GMT_HOT_STATE NodeLayout g_layout;  ///< of what is read at the place

constexpr uint32_t kUnknown = ~0u, kNowhere = ~0u - 1;
uint32_t g_place = kUnknown;  ///< of the variable in the library's thread data, in words

constexpr uint32_t kMaxPlaces = 8;
constexpr uint32_t kAgreed = 16;     ///< nodes that ran, all at the same place: it is no chance
constexpr uint32_t kPatience = 256;  ///< answers, until it is given up
constexpr uint32_t kReads = 255;     ///< before the function is called again

/// What the answers have shown so far. One thread at a time.
struct Search {
  uint32_t busy, answers, agreed, count;
  uint32_t places[kMaxPlaces];
  const void *last;
};
Search g_search;

const void *word_at(const ThreadData &data, uint32_t place) {
  return __atomic_load_n(reinterpret_cast<void *const *>(data.begin) + place, __ATOMIC_RELAXED);
}

/// All words of the thread's data that are the node; more of them than can be kept prove nothing.
uint32_t find_places(const ThreadData &data, const void *node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < data.bytes / sizeof(void *); i++) {
    if (word_at(data, i) != node) continue;
    if (count == kMaxPlaces) return 0;
    g_search.places[count++] = i;
  }
  return count;
}

uint32_t narrow_places(const ThreadData &data, const void *node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < g_search.count; i++)
    if (word_at(data, g_search.places[i]) == node) g_search.places[count++] = g_search.places[i];
  return count;
}

/// `node`: what the function answered on this thread just now. Where no node runs, the place must say so too.
uint32_t place_after(const void *node) {
  if (node == g_search.last) return kUnknown;
  g_search.last = node;
  const ThreadData data = thread_data(kLibrary);
  if (!data.begin || ++g_search.answers == kPatience) return kNowhere;
  const bool begins = g_search.count == 0;
  g_search.count = begins ? find_places(data, node) : narrow_places(data, node);
  if (g_search.count == 0) return begins ? kUnknown : kNowhere;
  if (node) g_search.agreed++;
  if (g_search.agreed < kAgreed) return kUnknown;
  return g_search.count == 1 ? g_search.places[0] : kNowhere;
}

void update_place(const void *node, NodeLayout layout) {
  if (!gmt_take(&g_search.busy)) return;
  if (__atomic_load_n(&g_place, __ATOMIC_RELAXED) == kUnknown) {
    const uint32_t place = place_after(node);
    if (node) g_layout = layout;
    __atomic_store_n(&g_place, place, __ATOMIC_RELEASE);
  }
  gmt_give(&g_search.busy);
}

/// Makes the thread read at the place where it is known and says the same; else it continues asking.
void confirm_place(Thread &thread, const void *node, NodeLayout layout) {
  uint32_t place = __atomic_load_n(&g_place, __ATOMIC_ACQUIRE);
  if (place == kUnknown) {
    update_place(node, layout);
    place = __atomic_load_n(&g_place, __ATOMIC_ACQUIRE);
  }
  thread.running_node = nullptr;
  if (place == kUnknown || place == kNowhere) return;
  const ThreadData data = thread_data(kLibrary);
  if (data.begin && word_at(data, place) == node) {
    thread.running_node = reinterpret_cast<void *const *>(data.begin) + place;
    thread.node_reads = kReads;
  } else if (data.begin) {
    __atomic_store_n(&g_place, kNowhere, __ATOMIC_RELEASE);
  }
}

/// Gives back the reference that was taken. The engine holds one of its own while the node runs, so this is never the last and
/// a plain decrement is the whole of what the smart pointer's destructor would do.
void drop_reference(void *const result[2]) {
  if (!result[1])
    __atomic_fetch_sub(reinterpret_cast<uint64_t *>(static_cast<char *>(result[0]) + 8), 1,
                       __ATOMIC_ACQ_REL);  // combined_refcount_
  else
    __atomic_fetch_sub(reinterpret_cast<int *>(static_cast<char *>(result[1]) + 8), 1,
                       __ATOMIC_ACQ_REL);  // _Sp_counted_base::_M_use_count
}

[[gnu::always_inline]] inline bool read_node(const void *node, NodeLayout layout, uint64_t *sequence,
                                             uint32_t *torch_thread) {
  if (!node) return false;
  __builtin_memcpy(sequence, static_cast<const char *>(node) + layout.sequence, sizeof *sequence);
  __builtin_memcpy(torch_thread, static_cast<const char *>(node) + layout.thread, sizeof *torch_thread);
  return true;
}

GMT_COLD bool read_current_node(Thread &thread, uint64_t *sequence, uint32_t *torch_thread) {
  alignas(SmartPointer) void *result[2] = {nullptr, nullptr};
  asm volatile("" ::"r"(result) : "memory");  // an intrusive_ptr leaves the second word as it is
  ::new (static_cast<void *>(result)) SmartPointer(g_current_node());
  asm volatile("" ::"r"(result) : "memory");
  const NodeLayout layout = result[1] ? torch::kSharedNode : torch::kIntrusiveNode;
  confirm_place(thread, result[0], layout);
  const bool runs = read_node(result[0], layout, sequence, torch_thread);
  if (runs) drop_reference(result);
  return runs;
}

/// Number of the node and of the thread that made it, by Node::sequence_nr() and thread_id(). False: no node runs on this thread.
GMT_HOT bool running_node(Thread &thread, uint64_t *sequence, uint32_t *torch_thread) {
  if (__builtin_expect(!thread.running_node || thread.node_reads-- == 0, 0))
    return read_current_node(thread, sequence, torch_thread);
  return read_node(*thread.running_node, g_layout, sequence, torch_thread);
}

uint64_t (*g_peek)();
uint64_t (*g_thread_id)();
GMT_HOT_STATE uint32_t g_sees_nodes;
enum : uint32_t { kUnresolved, kReady, kCannot, kNoTorch };
GMT_HOT_STATE uint32_t g_state;
uint32_t g_resolving;
unsigned long long g_resolved_at;  ///< libraries_added() when PyTorch was not there: it may be imported long after CUDA

GMT_COLD uint32_t resolve_functions() {
  __atomic_store_n(&g_resolved_at, libraries_added(), __ATOMIC_RELAXED);
  g_peek = reinterpret_cast<uint64_t (*)()>(find_symbol(kLibrary, "_ZN2at15sequence_number4peekEv"));
  g_thread_id = reinterpret_cast<uint64_t (*)()>(find_symbol(kLibrary, "_ZN2at14RecordFunction15currentThreadIdEv"));
  g_current_node = reinterpret_cast<CurrentNode>(find_symbol(kLibrary, "_ZN5torch8autograd16get_current_nodeEv"));
  if (g_current_node && g_peek) return kReady;
  return find_symbol(kLibrary, "_ZTIN5torch8autograd4NodeE") ? kCannot : kNoTorch;
}

GMT_COLD bool becomes_ready(uint32_t state) {
  if (state == kCannot) return false;
  if (state == kNoTorch && libraries_added() == __atomic_load_n(&g_resolved_at, __ATOMIC_RELAXED)) return false;
  if (!gmt_take(&g_resolving)) return false;
  state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  if (state != kReady) state = resolve_functions();
  __atomic_store_n(&g_state, state, __ATOMIC_RELEASE);
  gmt_give(&g_resolving);
  return state == kReady;
}

[[gnu::always_inline]] inline bool ready() {
  const uint32_t state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  return __builtin_expect(state == kReady, 1) || becomes_ready(state);
}

/// Once per process, where PyTorch is there but lacks what is needed.
GMT_COLD void report_unreadable(Thread &thread) {
  static uint32_t reported;
  if (__atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED)) return;
  write_note(thread, GMT_NOTE_AUTOGRAD_UNREADABLE,
             "This version of PyTorch does not export the link from backward to forward lines, so backward-pass memory "
             "has the line of its backward() call, and an evaluation counts as a forward pass.");
}

GMT_COLD uint32_t read_torch_thread(Thread &thread) {
  if (g_thread_id) thread.torch_thread = static_cast<uint32_t>(g_thread_id());
  return thread.torch_thread;
}

/// PyTorch counts its threads from 1: the low half is all of it.
[[gnu::always_inline]] inline uint32_t torch_thread(Thread &thread) {
  return __builtin_expect(thread.torch_thread != 0, 1) ? thread.torch_thread : read_torch_thread(thread);
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
  // The node is unknown: one record has that for the whole pass.
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
  follow_python_calls();
  bool ending = false;
  const uint32_t stack = python_stack_in_order(thread, &ending);
  if (stack) write_small(thread, GMT_NODE, gmt_node{sequence, stack, torch_thread(thread)});
  leave(thread);
}

// at::sequence_number::get_and_increment: every Node's constructor gets the node's number from it, through the import slot of its
// library, so a preloaded definition comes first. Views and in-place operations allocate nothing forward but have nodes: this is
// the only place that has their lines.
extern "C" GMT_HOT __attribute__((visibility("default"))) uint64_t _ZN2at15sequence_number17get_and_incrementEv() {
  using Function = uint64_t (*)();
  GMT_HOT_STATE static Function original;
  Function next = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (__builtin_expect(!next, 0)) {
    next = reinterpret_cast<Function>(find_symbol(kLibrary, "_ZN2at15sequence_number17get_and_incrementEv"));
    if (!next) return 0;  // then there was no caller
    __atomic_store_n(&original, next, __ATOMIC_RELAXED);
  }
  const uint64_t sequence = next();
  node_made(sequence);
  return sequence;
}

void hook_autograd_by_slots() { redirect_imports({GMT_IMPORT(_ZN2at15sequence_number17get_and_incrementEv)}); }

}  // namespace gmt::inject
