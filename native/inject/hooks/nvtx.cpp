// Ranges of NVTX. Each library with NVIDIA's header in it (PyTorch, the package nvtx, cuDF) loads what NVTX_INJECTION64_PATH names at
// its first range, and has its functions filled in by it; those that nobody fills in do nothing. The launcher leaves the variable to
// another tool that has it. As without a tool, a push and a pop say -2: depths are not told.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "inject/log/log.h"

namespace gmt::inject {
namespace {

// What of nvtx3/nvtxDetail/nvtxTypes.h and nvtx3/nvToolsExt.h is needed.
using Function = void (*)();
struct Callbacks {
  size_t bytes;
  int (*table)(int module, Function ***functions, unsigned *count);
};
using ExportTable = const void *(*)(uint32_t);
constexpr uint32_t kCallbacks = 1;
constexpr int kCore = 1, kCore2 = 5, kNotTracked = -2;
enum MessageType : int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
struct Attributes {
  uint16_t version, bytes;
  uint32_t category;
  int32_t colour_type;
  uint32_t colour;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void *message;
};
static_assert(offsetof(Attributes, message) == 40);

__thread uint32_t t_open __attribute__((tls_model("initial-exec")));  ///< ranges of this thread, by its pushes
uint32_t g_started;
char g_strings[1 << 16];  ///< registered ones, each ended by 0; a handle is its place
uint32_t g_strings_end;

/// UTF-8, cut.
struct Name {
  char text[GMT_MOST_RANGE_NAME];
  uint32_t bytes = 0;

  explicit Name(const char *from) {
    bytes = from ? static_cast<uint32_t>(strnlen(from, sizeof text + 1)) : 0;
    if (bytes > sizeof text)
      for (bytes = sizeof text; bytes > 0 && (from[bytes] & 0xc0) == 0x80;) bytes--;
    memcpy(text, from, bytes);
  }
  explicit Name(const wchar_t *from) {
    for (; from && *from && bytes + 4 <= sizeof text; from++) {
      const auto sign = static_cast<uint32_t>(*from);
      const uint32_t more = sign < 0x80 ? 0 : sign < 0x800 ? 1 : sign < 0x10000 ? 2 : 3;  // bytes that follow the first
      text[bytes++] = static_cast<char>(more ? 0xff00 >> (more + 1) | sign >> 6 * more : sign);
      for (uint32_t left = more; left-- > 0;) text[bytes++] = static_cast<char>(0x80 | (sign >> 6 * left & 0x3f));
    }
  }
};

/// A thread that has written nothing yet uses no GPU: its ranges are not worth a chunk.
void write_range(uint32_t key, const Name *name) {
  Thread &thread = t_thread;
  const uint32_t generation = log_generation();
  if (!generation || thread.generation != generation || !enter(thread)) return;
  static constexpr char kNone[] = "(no name)";
  const bool named = name && name->bytes;
  const uint32_t bytes = named ? name->bytes : name ? sizeof kNone - 1 : 0;
  const gmt_range range{ticks_of(g_log.clock), key, bytes};
  write_local(thread, GMT_RANGE, &range, sizeof range, named ? name->text : kNone, bytes);
  leave(thread);
}

int push(const Name &name) {
  write_range(t_open++, &name);
  return kNotTracked;
}
int pop() {
  if (t_open > 0) write_range(--t_open, nullptr);
  return kNotTracked;
}
uint64_t start(const Name &name) {
  const uint32_t key = GMT_RANGE_STARTED | __atomic_add_fetch(&g_started, 1, __ATOMIC_RELAXED);
  write_range(key, &name);
  return key;
}
void end(uint64_t key) {
  if (key & GMT_RANGE_STARTED) write_range(static_cast<uint32_t>(key), nullptr);
}

Name name_of(const Attributes *said) {
  if (said && said->message_type == kUnicode) return Name(static_cast<const wchar_t *>(said->message));
  const bool told = said && (said->message_type == kAscii || said->message_type == kRegistered);
  return Name(told ? static_cast<const char *>(said->message) : nullptr);
}

/// Null where there is no room for more: its ranges have no name.
void *keep(const Name &name) {
  const uint32_t at = __atomic_fetch_add(&g_strings_end, name.bytes + 1, __ATOMIC_RELAXED);
  if (at + name.bytes + 1 > sizeof g_strings) {
    __atomic_fetch_sub(&g_strings_end, name.bytes + 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  return memcpy(g_strings + at, name.text, name.bytes);
}

struct Slot {
  int module;
  unsigned number;
  Function function;
};
template <class F>
Slot slot(int module, unsigned number, F *function) {
  return {module, number, reinterpret_cast<Function>(function)};
}

}  // namespace
}  // namespace gmt::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(gmt::inject::ExportTable table) {
  using namespace gmt::inject;
  const auto *callbacks = static_cast<const Callbacks *>(table(kCallbacks));
  if (!configured() || !callbacks || callbacks->bytes < sizeof *callbacks) return 0;
  const Slot slots[] = {
      slot(
          kCore, 4, +[](const Attributes *said) { return start(name_of(said)); }),
      slot(
          kCore, 5, +[](const char *text) { return start(Name(text)); }),
      slot(
          kCore, 6, +[](const wchar_t *text) { return start(Name(text)); }),
      slot(kCore, 7, end),
      slot(
          kCore, 8, +[](const Attributes *said) { return push(name_of(said)); }),
      slot(
          kCore, 9, +[](const char *text) { return push(Name(text)); }),
      slot(
          kCore, 10, +[](const wchar_t *text) { return push(Name(text)); }),
      slot(kCore, 11, pop),
      slot(
          kCore2, 2, +[](void *, const Attributes *said) { return start(name_of(said)); }),
      slot(
          kCore2, 3, +[](void *, uint64_t key) { end(key); }),
      slot(
          kCore2, 4, +[](void *, const Attributes *said) { return push(name_of(said)); }),
      slot(
          kCore2, 5, +[](void *) { return pop(); }),
      slot(
          kCore2, 10, +[](void *, const char *text) { return keep(Name(text)); }),
      slot(
          kCore2, 11, +[](void *, const wchar_t *text) { return keep(Name(text)); }),
  };
  for (const Slot &one : slots) {
    Function **functions = nullptr;
    unsigned count = 0;
    const bool known = callbacks->table(one.module, &functions, &count) && one.number < count && functions[one.number];
    if (known) *functions[one.number] = one.function;
  }
  return 1;
}
