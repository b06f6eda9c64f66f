#include "inject/agent/records.h"

#include <string.h>

#include <algorithm>

#include "inject/log/stacks.h"

namespace gmt::inject {
namespace {

/// Text in one record; well below a chunk, so that little of one is left unused in front of it.
constexpr uint32_t kPartBytes = 32768;
constexpr size_t kMostText = 1000;  ///< bytes of a name or path

uint32_t size_of(std::string_view text) { return static_cast<uint32_t>(text.size()); }

/// As `enter`, also while recording is paused: an answer was requested, and a name belongs to a block of before.
bool enter_paused(Thread &thread) {
  const uint32_t generation = log_generation();
  if (!generation || thread.busy) return false;
  begin_writing(thread);
  if (has_chunk(thread, generation) || attach_thread(thread)) return true;
  leave(thread);
  return false;
}

/// One record, also while recording is paused, with what stands behind it.
template <class Record>
void write_record(gmt_side_record_kind kind, const Record &record, std::string_view behind = {}) {
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  write_side_record(thread, kind, record, behind);
  leave(thread);
}

constexpr uint32_t kBeforeStack = 0xfffffff0;  ///< those of Python count from 1
uint32_t g_known_control;                      ///< generation of the control word that `take_waking` took
uint32_t g_known_log;                          ///< ... of the log of this generation
uint64_t g_collection_events;                  ///< of all threads
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

uint64_t take_waking() {
  if (!recording_woke()) return 0;
  const uint32_t now = __atomic_load_n(&g_log.control->generation, __ATOMIC_ACQUIRE);
  __atomic_store_n(&g_known_control, now, __ATOMIC_RELAXED);
  Thread &thread = t_thread;
  if (enter(thread)) leave(thread);              // writes the mark
  return now - g_log.first_control > 1 ? 2 : 1;  // each switch counts one
}

void write_before(gmt_before about, const gmt_before_block *blocks, uint64_t count) {
  constexpr uint64_t kPart = 2048;  // blocks: 32 KiB
  Thread &thread = t_thread;
  if (!log_generation() || !enter(thread)) return;
  if (g_described_before != log_generation()) {
    g_described_before = log_generation();
    const gmt_stack_record stack{kBeforeStack, 0, GMT_STACK_BEFORE_ATTACH};
    write_side_record(thread, GMT_STACK, stack);
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
    if (!write_side_record(thread, GMT_BEFORE, about, {from, about.count * sizeof *blocks})) break;
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
  const bool attached = thread.indexed_generation == generation;
  if (!attached && !(begins && value >= 2)) return;
  if (!enter(thread)) return;
  __atomic_fetch_add(&g_collection_events, 1, __ATOMIC_RELAXED);
  write_event(thread, begins ? GMT_GC_BEGIN : GMT_GC_END, GMT_DEVICE_NONE, value, 0, 0);
  leave(thread);
}

void write_python_ending(uint64_t busy_ns) {
  Thread &thread = t_thread;
  const uint32_t generation = log_generation();
  if (!generation || thread.indexed_generation != generation || !enter(thread)) return;
  write_event(thread, GMT_PYTHON_ENDING, GMT_DEVICE_NONE, busy_ns, 0, 0);
  leave(thread);
}

void write_name(uint64_t address, uint8_t device, uint8_t category, std::string_view text) {
  text = cut(text, kMostText);
  write_record(GMT_NAME, gmt_name{address, newest_sequence(), size_of(text), device, category, 0}, text);
}

void write_module(uint64_t module, std::string_view text) {
  text = cut(text, kMostText);
  write_record(GMT_MODULE, gmt_module{module, size_of(text), 0}, text);
}

uint64_t newest_sequence() {
  return log_generation() ? __atomic_load_n(&g_log.file->next_sequence, __ATOMIC_RELAXED) - 1 : 0;
}

uint64_t memory_events() { return newest_sequence() - __atomic_load_n(&g_collection_events, __ATOMIC_RELAXED); }

void write_answer(uint32_t request, std::string_view text, uint64_t sequence) {
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  const uint64_t parts = text.empty() ? 1 : (text.size() + kPartBytes - 1) / kPartBytes;
  for (uint64_t part = 0; part < parts && parts <= UINT16_MAX; part++) {
    const std::string_view piece(text.data() + part * kPartBytes,
                                 std::min<size_t>(text.size() - part * kPartBytes, kPartBytes));
    const gmt_answer answer{sequence,       request, static_cast<uint16_t>(part), static_cast<uint16_t>(parts),
                            size_of(piece), 0};
    if (!write_side_record(thread, GMT_ANSWER, answer, piece)) break;
  }
  if (parts > UINT16_MAX) count_loss(GMT_LOST_RECORD_SIZE);
  leave(thread);
}

void write_memory(const gmt_memory &memory) { write_record(GMT_MEMORY, memory); }

void write_allocator(const gmt_allocator &figures) {
  Thread &thread = t_thread;
  if (!log_generation() || !enter(thread)) return;
  write_side_record(thread, GMT_ALLOCATOR, figures);
  leave(thread);
}

void write_block(uint64_t address, uint32_t device, uint64_t sequence, uint64_t asked_bytes, uint64_t stream,
                 uint64_t pool_owner, uint64_t pool_number) {
  write_record(GMT_BLOCK, gmt_block{address, sequence, asked_bytes, stream, pool_owner, pool_number, device, 0});
}

void write_generated(uint32_t line, std::string_view text) {
  text = {text.data(), std::min<size_t>(text.size(), kPartBytes)};
  write_record(GMT_GENERATED, gmt_generated{line, size_of(text)}, text);
}

void write_pool(gmt_pool pool, std::string_view text, const uint64_t *addresses, size_t count) {
  constexpr size_t kPart = 1000;
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  text = cut(text, kMostText);
  pool.text_bytes = size_of(text);
  char behind[kMostText + kPart * sizeof *addresses];
  memcpy(behind, text.data(), text.size());
  do {
    pool.count = static_cast<uint32_t>(count < kPart ? count : kPart);
    memcpy(behind + text.size(), addresses, pool.count * sizeof *addresses);
    if (!write_side_record(thread, GMT_POOL, pool, {behind, text.size() + pool.count * sizeof *addresses})) break;
    addresses += pool.count;
    count -= pool.count;
  } while (count > 0);
  leave(thread);
}

void write_agent_note(gmt_note_code code, std::string_view text) {
  Thread &thread = t_thread;
  if (!enter_paused(thread)) return;
  write_note(thread, code, text);
  leave(thread);
}

}  // namespace gmt::inject
