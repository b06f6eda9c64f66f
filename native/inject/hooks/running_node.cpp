// PyTorch's function for it gives back a reference: two atomic operations and code that has left the caches, at each allocation of
// the backward pass. Its answers show where its thread-local variable lies (the one word of the library's thread data that always
// equals them), and from then on that word is read; now and then the function is asked again, to be sure.
#include "inject/hooks/running_node.h"

#include <stddef.h>

#include "inject/hooks/elf.h"
#include "torch/layouts.h"

namespace gmt::inject {
namespace {

constexpr char kLibrary[] = "libtorch_cpu.so";

// Which layout a node has, the current node's pointer says: a shared_ptr has a second word, never null where there is a node, and an
// intrusive_ptr has none. Type information would not do: its base class may be any library's own copy.
using torch::NodeLayout;

using AskFunction = void (*)(void *result);  // a smart pointer comes back through a hidden pointer
AskFunction g_ask;
GMT_HOT_STATE NodeLayout g_layout;  ///< of what is read at the place

constexpr uint32_t kUnknown = ~0u, kNowhere = ~0u - 1;
uint32_t g_place = kUnknown;  ///< of the variable in the library's thread data, in words

constexpr uint32_t kMaxPlaces = 8;
constexpr uint32_t kAgreed = 16;     ///< nodes that ran, all at the same place: it is no chance
constexpr uint32_t kPatience = 256;  ///< answers, until it is given up
constexpr uint32_t kReads = 255;     ///< before the function is asked again

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

/// All words of the thread's data that are the node; more of them than can be kept tell nothing.
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
  if (__atomic_exchange_n(&g_search.busy, 1, __ATOMIC_ACQUIRE)) return;
  if (__atomic_load_n(&g_place, __ATOMIC_RELAXED) == kUnknown) {
    const uint32_t place = place_after(node);
    if (node) g_layout = layout;
    __atomic_store_n(&g_place, place, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&g_search.busy, 0, __ATOMIC_RELEASE);
}

/// Makes the thread read at the place where it is known and says the same; else it goes on asking.
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

GMT_COLD bool ask(Thread &thread, uint64_t *sequence, uint32_t *torch_thread) {
  void *result[2] = {nullptr, nullptr};
  g_ask(result);
  const NodeLayout layout = result[1] ? torch::kSharedNode : torch::kIntrusiveNode;
  confirm_place(thread, result[0], layout);
  const bool runs = read_node(result[0], layout, sequence, torch_thread);
  if (runs) drop_reference(result);
  return runs;
}

}  // namespace

bool find_running_node() {
  g_ask = reinterpret_cast<AskFunction>(find_symbol(kLibrary, "_ZN5torch8autograd16get_current_nodeEv"));
  return g_ask != nullptr;
}

GMT_HOT bool running_node(Thread &thread, uint64_t *sequence, uint32_t *torch_thread) {
  if (__builtin_expect(!thread.running_node || thread.node_reads-- == 0, 0)) return ask(thread, sequence, torch_thread);
  return read_node(*thread.running_node, g_layout, sequence, torch_thread);
}

}  // namespace gmt::inject
