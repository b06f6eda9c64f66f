#include "inject/agent/records.h"

#include <string.h>

#include "inject/log/stacks.h"

namespace gmt::inject {
namespace {

/// Text in one record; well below a chunk, so that little of one is left unused in front of it.
constexpr uint32_t kPartBytes = 32768;

/// As `enter`, also while recording is paused: an answer was asked for, and a name belongs to a block of before.
bool enter_paused(Thread &thread) {
  const uint32_t generation = log_generation();
  if (!generation || thread.busy) return false;
  thread.busy = 1;
  if (thread.generation == generation || attach_thread(thread)) return true;
  thread.busy = 0;
  return false;
}

/// One record, also while recording is paused, with what stands behind it.
template <class Record>
void write_record(gmt_local_kind kind, const Record &record, const char *behind = nullptr, uint32_t bytes = 0) {
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  write_local(thread, kind, &record, sizeof record, behind, bytes);
  leave(thread);
}

constexpr uint32_t kBeforeStack = 0xfffffff0;  ///< those of Python count from 1
uint32_t g_known_control;                      ///< generation of the control word that `take_waking` took
uint32_t g_known_log;                          ///< ... of the log of this generation
uint32_t g_described_before;                   ///< generation of the log that has the stack of before

}  // namespace

bool recording_woke() {
  const uint32_t generation = log_generation();
  if (!generation || !g_log.control) return false;
  if (__atomic_exchange_n(&g_known_log, generation, __ATOMIC_RELAXED) != generation)
    __atomic_store_n(&g_known_control, g_log.first_control, __ATOMIC_RELAXED);
  return __atomic_load_n(&g_log.control->recording, __ATOMIC_ACQUIRE) != 0 &&
         __atomic_load_n(&g_log.control->generation, __ATOMIC_ACQUIRE) !=
             __atomic_load_n(&g_known_control, __ATOMIC_RELAXED);
}

bool take_waking() {
  if (!recording_woke()) return false;
  const uint32_t now = __atomic_load_n(&g_log.control->generation, __ATOMIC_ACQUIRE);
  __atomic_store_n(&g_known_control, now, __ATOMIC_RELAXED);
  Thread &thread = t_thread;
  if (enter(thread)) leave(thread);  // writes the mark
  return true;
}

void write_before(gmt_before about, const gmt_before_block *blocks, uint64_t count) {
  constexpr uint64_t kPart = 2048;  // blocks: 32 KiB
  Thread &thread = t_thread;
  if (!log_generation() || !enter(thread)) return;
  if (g_described_before != log_generation()) {
    g_described_before = log_generation();
    const gmt_stack_record stack{kBeforeStack, 0, GMT_STACK_BEFORE_ATTACH};
    write_local(thread, GMT_STACK, &stack, sizeof stack);
  }
  about.stack = kBeforeStack;
  const uint64_t parts = count == 0 ? 1 : (count + kPart - 1) / kPart;
  if (parts > UINT16_MAX) count_loss(GMT_LOST_RECORD_SIZE);
  for (uint64_t part = 0; part < parts && parts <= UINT16_MAX; part++) {
    const uint64_t begin = part * kPart;
    about.count = static_cast<uint32_t>(count - begin < kPart ? count - begin : kPart);
    about.part = static_cast<uint16_t>(part);
    about.parts = static_cast<uint16_t>(parts);
    const auto *from = reinterpret_cast<const char *>(blocks + begin);
    if (!write_local(thread, GMT_BEFORE, &about, sizeof about, from, about.count * sizeof *blocks)) break;
  }
  leave(thread);
}

void write_step(uint64_t number) {
  Thread &thread = t_thread;
  if (!log_generation() || !enter(thread)) return;
  bool ending = false;
  const uint32_t stack = python_stack(thread, &ending);
  write_event(thread, GMT_STEP, GMT_DEVICE_NONE, number, 0, stack);
  leave(thread);
}

void write_collection(bool begins, uint64_t value) {
  Thread &thread = t_thread;
  const uint32_t generation = log_generation();
  if (!generation) return;
  // A thread without a chunk has no GPU memory to free as a rule: a full collection alone is worth a chunk.
  const bool attached = thread.generation == generation;
  if (!attached && !(begins && value >= 2)) return;
  if (!enter(thread)) return;
  write_event(thread, begins ? GMT_GC_BEGIN : GMT_GC_END, GMT_DEVICE_NONE, value, 0, 0);
  leave(thread);
}

/// So much of a text as is written: not a part of a character.
uint32_t cut_text(const char *text, uint32_t bytes) {
  constexpr uint32_t kMost = 1000;
  if (bytes <= kMost) return bytes;
  bytes = kMost;
  while (bytes > 0 && (text[bytes] & 0xc0) == 0x80) bytes--;
  return bytes;
}

void write_name(uint64_t address, uint8_t device, uint8_t category, const char *text, uint32_t bytes) {
  bytes = cut_text(text, bytes);
  gmt_name name{};
  name.address = address;
  name.sequence = newest_sequence();
  name.text_bytes = bytes;
  name.device = device;
  name.category = category;
  write_record(GMT_NAME, name, text, bytes);
}

void write_module(uint64_t module, const char *text, uint32_t bytes) {
  const gmt_module path{module, cut_text(text, bytes), 0};
  write_record(GMT_MODULE, path, text, path.text_bytes);
}

uint64_t newest_sequence() {
  return log_generation() ? __atomic_load_n(&g_log.file->next_sequence, __ATOMIC_RELAXED) - 1 : 0;
}

void write_answer(uint32_t request, uint64_t sequence, const char *text, uint64_t bytes) {
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  const uint64_t parts = bytes == 0 ? 1 : (bytes + kPartBytes - 1) / kPartBytes;
  for (uint64_t part = 0; part < parts && parts <= UINT16_MAX; part++) {
    const uint64_t begin = part * kPartBytes;
    const auto size = static_cast<uint32_t>(bytes - begin < kPartBytes ? bytes - begin : kPartBytes);
    const gmt_answer answer{sequence, request, static_cast<uint16_t>(part), static_cast<uint16_t>(parts), size, 0};
    if (!write_local(thread, GMT_ANSWER, &answer, sizeof answer, text + begin, size)) break;
  }
  if (parts > UINT16_MAX) count_loss(GMT_LOST_RECORD_SIZE);
  leave(thread);
}

void write_memory(const gmt_memory &memory) { write_record(GMT_MEMORY, memory); }

void write_allocator(const gmt_allocator &said) {
  Thread &thread = t_thread;
  if (!log_generation() || !enter(thread)) return;
  write_local(thread, GMT_ALLOCATOR, &said, sizeof said);
  leave(thread);
}

void write_block(const gmt_block &block) { write_record(GMT_BLOCK, block); }

void write_generated(uint32_t line, const char *text, uint32_t bytes) {
  const gmt_generated about{line, bytes < kPartBytes ? bytes : kPartBytes};
  write_record(GMT_GENERATED, about, text, about.text_bytes);
}

void write_pool(gmt_pool pool, const char *text, const uint64_t *addresses, size_t count) {
  constexpr size_t kPart = 1000;
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  pool.text_bytes = cut_text(text, pool.text_bytes);
  char behind[1000 + kPart * sizeof *addresses];
  memcpy(behind, text, pool.text_bytes);
  do {
    pool.count = static_cast<uint32_t>(count < kPart ? count : kPart);
    memcpy(behind + pool.text_bytes, addresses, pool.count * sizeof *addresses);
    const auto bytes = static_cast<uint32_t>(pool.text_bytes + pool.count * sizeof *addresses);
    if (!write_local(thread, GMT_POOL, &pool, sizeof pool, behind, bytes)) break;
    addresses += pool.count;
    count -= pool.count;
  } while (count > 0);
  leave(thread);
}

void write_agent_note(gmt_note_code code, const char *text) {
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  write_note(thread, code, text);
  leave(thread);
}

}  // namespace gmt::inject
