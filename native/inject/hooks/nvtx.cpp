// Ranges of NVTX. Each library with NVIDIA's header in it (PyTorch, the package nvtx, cuDF) loads what NVTX_INJECTION64_PATH names at
// its first range, and has its functions filled in by it; those that are not filled in do nothing. The launcher leaves the variable to
// another tool that has it. As without a tool, a push and a pop say -2: depths are not reported.
#include "inject/hooks/nvtx.h"

#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "inject/log/log.h"
#include "python/text.h"

namespace gmt::inject {
namespace {

// What of nvtx3/nvtxDetail/nvtxTypes.h and nvtx3/nvToolsExt.h is needed.
using Function = void (*)();
struct Callbacks {
  size_t bytes;
  int (*table)(int module, Function ***functions, unsigned *count);
};
constexpr int kCore = 1, kCore2 = 5, kNotTracked = -2;
constexpr int32_t kAscii = 1, kUnicode = 2, kRegistered = 3;
struct Attributes {
  char before[32];  ///< colour and payload
  int32_t message_type;
  const void *message;
};

__thread uint32_t t_open __attribute__((tls_model("initial-exec")));  ///< ranges that this thread has pushed
uint32_t g_started;
char g_strings[1 << 16];  ///< registered ones, each ended by 0; a handle is its place
uint32_t g_strings_end;

/// UTF-8, cut.
struct Name {
  char text[GMT_MOST_RANGE_NAME];
  uint32_t bytes = 0;

  explicit Name(const char *from = "") {
    const std::string_view all(from, from ? strnlen(from, sizeof text + 1) : 0);
    bytes = static_cast<uint32_t>(cut(all, sizeof text).copy(text, sizeof text));
  }
  explicit Name(const wchar_t *from) {
    for (; from && *from && bytes + 4 <= sizeof text; from++)
      bytes += static_cast<uint32_t>(python::put_utf8(static_cast<uint32_t>(*from), text + bytes));
  }
  explicit Name(const Attributes *attributes) : Name() {
    if (attributes && attributes->message_type == kUnicode)
      *this = Name(static_cast<const wchar_t *>(attributes->message));
    if (attributes && (attributes->message_type == kAscii || attributes->message_type == kRegistered))
      *this = Name(static_cast<const char *>(attributes->message));
  }
};

/// Without a name it ends nothing. A thread that has written nothing yet uses no GPU, and its ranges are not worth a chunk.
void write_range(uint32_t key, const Name &name = Name()) {
  Thread &thread = t_thread;
  const uint32_t generation = log_generation();
  if (!generation || thread.indexed_generation != generation || !enter(thread)) return;
  const gmt_range range{ticks_of(g_log.clock), key, name.bytes};
  write_side_record(thread, GMT_RANGE, range, {name.text, name.bytes});
  leave(thread);
}

template <class Text>
int push(Text text) {
  return write_range(t_open++, Name(text)), kNotTracked;
}
int pop() {
  if (t_open > 0) write_range(--t_open);
  return kNotTracked;
}
template <class Text>
uint64_t start(Text text) {
  const uint32_t key = GMT_RANGE_STARTED | __atomic_add_fetch(&g_started, 1, __ATOMIC_RELAXED);
  return write_range(key, Name(text)), key;
}
void end(uint64_t key) {
  if (key & GMT_RANGE_STARTED) write_range(static_cast<uint32_t>(key));
}
/// Null where there is no room for more: its ranges have no name.
template <class Text>
void *keep(void *, Text text) {
  const Name name(text);
  const uint32_t at = __atomic_fetch_add(&g_strings_end, name.bytes + 1, __ATOMIC_RELAXED);
  if (at + name.bytes + 1 <= sizeof g_strings) return memcpy(g_strings + at, name.text, name.bytes);
  __atomic_fetch_sub(&g_strings_end, name.bytes + 1, __ATOMIC_RELAXED);
  return nullptr;
}

}  // namespace

void push_range(const char *name) { push(name); }
void pop_range() { pop(); }

}  // namespace gmt::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*table)(uint32_t)) {
  using namespace gmt::inject;
  const auto *callbacks = static_cast<const Callbacks *>(table(1));
  if (!configured() || !callbacks || callbacks->bytes < sizeof *callbacks) return 0;
  const auto fill = [&](int module, unsigned number, auto *function) {
    Function **functions = nullptr;
    unsigned count = 0;
    const bool known = callbacks->table(module, &functions, &count) && number < count && functions[number];
    if (known) *functions[number] = reinterpret_cast<Function>(function);
  };
  fill(kCore, 4, start<const Attributes *>);
  fill(kCore, 5, start<const char *>);
  fill(kCore, 6, start<const wchar_t *>);
  fill(kCore, 7, end);
  fill(kCore, 8, push<const Attributes *>);
  fill(kCore, 9, push<const char *>);
  fill(kCore, 10, push<const wchar_t *>);
  fill(kCore, 11, pop);
  fill(
      kCore2, 2, +[](void *, const Attributes *attributes) { return start(attributes); });
  fill(
      kCore2, 3, +[](void *, uint64_t key) { end(key); });
  fill(
      kCore2, 4, +[](void *, const Attributes *attributes) { return push(attributes); });
  fill(
      kCore2, 5, +[](void *) { return pop(); });
  fill(kCore2, 10, keep<const char *>);
  fill(kCore2, 11, keep<const wchar_t *>);
  return 1;
}
