#include "inject/log/stacks.h"

#include <stddef.h>
#include <string.h>

#include "inject/log/intern_table.h"
#include "python/frames.h"

namespace gmt::inject {
namespace {

GMT_HOT_STATE InternTable<1u << 13, 1u << 16, 1u << 20> g_stacks;
InternTable<1u << 12, 1u << 15, 1u << 18> g_codes;
/// Stacks of modules; a program that makes its modules anew each time must not fill the table.
constexpr uint32_t kModuleStacks = 1u << 17;
uint32_t g_module_stacks;
GMT_HOT_STATE uint32_t g_described_generation;  ///< generation of the log that has the Python version

uint32_t g_compiled_code;  ///< since it was requested

uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd1b54a32d192ed03ull);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Writes the code object straight into the chunk, a fresh one if the line table did not fit into this one. False: no room.
bool write_code(Thread &thread, const python::Frame &frame, uint32_t id) {
  constexpr char kInductor[] = "/torchinductor_";
  constexpr uint32_t kUsual = 512;  // slots: 16 KiB, more than nearly all code objects need
  for (uint32_t slots = kUsual;; slots = GMT_SLOTS_PER_CHUNK) {
    if (!ensure(thread, slots)) return false;
    const uint32_t room = (GMT_SLOTS_PER_CHUNK - thread.next) * GMT_SLOT_BYTES - 16;
    auto *local = reinterpret_cast<gmt_side_record *>(reinterpret_cast<gmt_event *>(thread.chunk + 1) + thread.next);
    const size_t bytes = python::describe_code(frame, id, reinterpret_cast<char *>(local) + 16, room);
    gmt_code_record record;
    memcpy(&record, reinterpret_cast<char *>(local) + 16, sizeof record);
    if (bytes == 0) return true;
    const char *file = reinterpret_cast<char *>(local) + 16 + sizeof record;
    if (memmem(file, record.file_bytes, kInductor, sizeof kInductor - 1))
      __atomic_store_n(&g_compiled_code, 1, __ATOMIC_RELAXED);
    if ((record.flags & GMT_CODE_CUT) && slots == kUsual && thread.next != 0) {
      memset(static_cast<void *>(local), 0, 16 + bytes);  // unwritten slots of a chunk are zero
      continue;
    }
    local->kind = GMT_CODE;
    local->bytes = static_cast<uint32_t>(bytes);
    local->slots = static_cast<uint16_t>((16 + bytes + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
    thread.next += local->slots;
    __atomic_store_n(&local->commit, GMT_SIDE_RECORD_BIT | thread.index, __ATOMIC_RELEASE);
    return true;
  }
}

bool write_module(Thread &thread, uint32_t stack, const void *module) {
  if (__atomic_add_fetch(&g_module_stacks, 1, __ATOMIC_RELAXED) > kModuleStacks) python::forget_module_call();
  const char *name = python::class_name(module);
  const gmt_module_call call{reinterpret_cast<uintptr_t>(module), stack, static_cast<uint32_t>(strnlen(name, 200))};
  return write_side_record(thread, GMT_MODULE_CALL, call, {name, call.class_bytes});
}

/// False: no room for the stack or a code object of it. `learned`: from here on the same frames have another hash.
GMT_COLD bool write_frames(Thread &thread, uint32_t id, const python::Walk &walk, bool *learned) {
  gmt_frame frames[GMT_MAX_FRAMES];
  if (walk.module && !write_module(thread, id, walk.module)) return false;
  const gmt_stack_record record{id, static_cast<uint16_t>(walk.depth),
                                static_cast<uint16_t>(walk.cut ? GMT_STACK_CUT : 0)};
  for (uint32_t i = 0; i < walk.depth; i++) {
    const python::Frame &frame = walk.frames[i];
    bool is_new = false;
    const uint32_t code = g_codes.number(mix(reinterpret_cast<uintptr_t>(frame.code), frame.deaths), &is_new);
    if (code == 0) count_loss(GMT_LOST_NAME);
    if (is_new) *learned |= python::learn_module_call(frame, i + 1 < walk.depth ? &walk.frames[i + 1] : nullptr);
    if (is_new && !write_code(thread, frame, code)) {
      g_codes.forget(code);
      return false;
    }
    frames[i] = {code, frame.offset};
  }
  return write_side_record(thread, GMT_STACK, record,
                           {reinterpret_cast<const char *>(frames), walk.depth * sizeof *frames});
}

/// `id`, or 0 where the stack could not be described. `given`: null for the calling thread's.
GMT_COLD uint32_t write_stack(Thread &thread, uint32_t id, bool *learned, const python::Walk *given = nullptr) {
  const KeptErrno kept;
  renew_clock();
  thread.describing = 1;
  python::Walk own;
  const bool written = (given || python::walk(own)) && write_frames(thread, id, given ? *given : own, learned);
  thread.describing = 0;
  if (!written) g_stacks.forget(id);
  return written ? id : 0;
}

/// Writes once what Python this is, or why there are no stacks.
GMT_COLD void write_python_support(Thread &thread, python::Support support) {
  const uint32_t generation = __atomic_load_n(&g_log.guard->generation, __ATOMIC_RELAXED);
  uint32_t described = __atomic_load_n(&g_described_generation, __ATOMIC_RELAXED);
  if (described == generation || support == python::Support::kNoPython) return;
  if (!__atomic_compare_exchange_n(&g_described_generation, &described, generation, false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED))
    return;
  write_process(thread, python::version_hex());
  if (support == python::Support::kUnsupported)
    write_note(thread, GMT_NOTE_PYTHON_UNSUPPORTED, python::unsupported_reason());
}

/// Looks for Python until it is there: it may be loaded long after CUDA.
[[gnu::always_inline]] inline bool python_ready(Thread &thread) {
  GMT_HOT_STATE static python::Support found = python::Support::kNoPython;
  python::Support support = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
  if (__builtin_expect(support == python::Support::kNoPython, 0)) {
    const KeptErrno kept;
    support = python::discover();
    __atomic_store_n(&found, support, __ATOMIC_RELEASE);
  }
  if (__builtin_expect(__atomic_load_n(&g_described_generation, __ATOMIC_RELAXED) != g_log.guard->generation, 0))
    write_python_support(thread, support);
  return support == python::Support::kReady;
}

/// The first call of a module that is met makes modules known: from then on they belong to stacks, to this one too.
GMT_COLD uint32_t new_stack(Thread &thread, uint32_t id) {
  bool learned = false;
  const uint32_t written = write_stack(thread, id, &learned);
  if (!learned) return written;
  bool is_new = false;
  const uint32_t again = g_stacks.number(python::walk_hash(), &is_new);
  return is_new ? write_stack(thread, again, &learned) : again;
}

[[gnu::always_inline]] inline uint32_t walked_stack(Thread &thread, bool *ending) {
  const uint64_t hash = python_ready(thread) ? python::walk_hash() : 0;
  *ending = hash == 0 && python::finalizing();
  if (hash == 0) return 0;
  bool is_new = false;
  const uint32_t id = g_stacks.number(hash, &is_new);
  if (__builtin_expect(id == 0, 0)) count_loss(GMT_LOST_STACK_TABLE);
  return __builtin_expect(is_new, 0) ? new_stack(thread, id) : id;
}

/// One walk is enough for a call out of Python: until it returns, no frame of the thread can continue. What it calls back has frames of
/// its own, on top of the one that called.
[[gnu::always_inline]] inline uint32_t stack_of_call(Thread &thread, bool *ending) {
  if (!thread.call_frame) return walked_stack(thread, ending);
  const auto frame = reinterpret_cast<uintptr_t>(python::innermost_frame());
  const bool runs = frame == (thread.call_frame & ~kStackKnown) && *g_call_ends.slot == g_call_ends.hook;
  if (runs && (thread.call_frame & kStackKnown)) return thread.call_stack;
  const uint32_t stack = walked_stack(thread, ending);
  if (runs && stack) {
    thread.call_stack = stack;
    thread.call_frame |= kStackKnown;
  }
  return stack;
}

}  // namespace

GMT_HOT_STATE CallEnds g_call_ends;

bool met_compiled_code() { return __atomic_exchange_n(&g_compiled_code, 0, __ATOMIC_RELAXED); }

GMT_HOT uint32_t python_stack(Thread &thread, bool *ending) { return stack_of_call(thread, ending); }

GMT_HOT uint32_t python_stack_in_order(Thread &thread, bool *ending) {
  const uint32_t stack = stack_of_call(thread, ending);
  if (stack != thread.stack_before) g_stacks.prefetch_next(stack, &thread.stack_before);
  return stack;
}

uint32_t remembered_stack(Thread &thread, python::Walk &walk) {
  if (!python_ready(thread) || walk.depth == 0) return 0;
  walk.hash = walk.cut ? 1 : 2;
  walk.module = nullptr;
  for (uint32_t i = 0; i < walk.depth; i++) {
    const python::Frame &frame = walk.frames[i];
    walk.hash = mix(walk.hash ^ frame.offset, reinterpret_cast<uintptr_t>(frame.code) ^ frame.deaths << 48);
  }
  bool is_new = false, learned = false;
  const uint32_t id = g_stacks.number(walk.hash, &is_new);
  if (id == 0) count_loss(GMT_LOST_STACK_TABLE);
  return is_new ? write_stack(thread, id, &learned, &walk) : id;
}

}  // namespace gmt::inject
