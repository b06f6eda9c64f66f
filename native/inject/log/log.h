#pragma once
// The writing side of a process's trace log (layout: wire/layout.h). One log per process, opened at the first use of CUDA;
// each thread appends to a chunk of its own, so the hot path takes no lock and makes no system call until the chunk is full.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "python/frames.h"
#include "wire/clock.h"
#include "wire/layout.h"

// Keeps what is rare out of the pages and lines that every event needs.
#define GMT_COLD __attribute__((cold, noinline))
#define GMT_HOT __attribute__((hot))
// State that each event reads, from whichever file: together it is two cache lines, apart it would be ten.
#define GMT_HOT_STATE __attribute__((section(".gmt_hot_state")))

namespace gmt::inject {

/// The most that glibc grants the thread-local variables of a library which a running program loads: the alignment of its own.
#ifdef __x86_64__
constexpr size_t kMostTlsAlignment = 64;
#else
constexpr size_t kMostTlsAlignment = 16;
#endif

/// What one thread needs to write. Zero-initialised; lives in static TLS. Between two events the program does much else, and
/// every cache line has gone by then: what each event reads is in the first one.
struct alignas(kMostTlsAlignment) Thread {
  uint32_t generation;  ///< of the log that the rest belongs to; 0 = none yet
  uint32_t busy;        ///< inside the tracer: an event from here would be our own
  uint32_t next;        ///< slot
  uint16_t index;
  uint8_t frees;  ///< tensor frees, of which a sample gets its stack
  gmt_chunk_header *chunk;
  uint64_t base_ticks;
  uint64_t autograd_sequence;  ///< in this thread's last GMT_AUTOGRAD
  uint32_t autograd_role;
  uint32_t call_stack;    ///< of the call out of Python that runs
  uintptr_t call_frame;   ///< the frame that made it, with kStackKnown; 0: none is known to run
  uint32_t stack_before;  ///< of the last allocation; the one that followed it before is prefetched
  uint32_t torch_thread;

  uint32_t pending_free;        ///< a free was recorded at entry and may still fail: its kind
  uint32_t indexed_generation;  ///< of the log that `index` belongs to
  uint32_t describing;        ///< writes what the next event needs: without room, the event's loss is counted, not this
  uint32_t node_reads;        ///< left for `running_node`, before PyTorch is called again
  void *const *running_node;  ///< PyTorch's variable of this thread; null: PyTorch is called
  uint32_t number;            ///< among all threads of the log; `index` has had others before
  uint32_t place;             ///< of its chunk (open_chunks.h), from 1; 0 = it has none
  uint32_t described_generation;  ///< of the log that has its name
  uint32_t ended;                 ///< its end was noticed, and may not be once more
};
static_assert(offsetof(Thread, pending_free) == 64);
extern __thread Thread t_thread __attribute__((tls_model("initial-exec")));

/// What all threads share. The guard is a page that the kernel wipes in a forked child, so a child never writes into its
/// parent's log: its first event finds generation 0 and opens a log of its own.
struct Guard {
  uint32_t generation;
};
struct alignas(64) Log {
  Guard *guard;
  gmt_file_header *file;
  const gmt_control *control;  ///< null: always record
  uint32_t seen_control;       ///< generation of `control` that the log has
  gmt_clock clock;
  uint64_t budget_chunks;
  uint32_t lean;           ///< autograd's nodes are left out
  uint32_t can_wake;       ///< `control` may be written
  uint32_t first_control;  ///< generation of `control` when the log began
};
extern Log g_log;

/// Generation of the open log; 0 = this process has none (also a forked child that has not used the GPU yet). What else is in
/// `g_log` may be read by a thread that saw another one.
inline uint32_t log_generation() {
  const Guard *guard = __atomic_load_n(&g_log.guard, __ATOMIC_ACQUIRE);
  return guard ? __atomic_load_n(&guard->generation, __ATOMIC_ACQUIRE) : 0;
}

/// Recording is off, and the log has a record of it. There is one.
inline bool asleep() {
  return g_log.control && __atomic_load_n(&g_log.control->recording, __ATOMIC_RELAXED) == 0 &&
         __atomic_load_n(&g_log.control->generation, __ATOMIC_RELAXED) ==
             __atomic_load_n(&g_log.seen_control, __ATOMIC_RELAXED);
}

/// Switches recording on where it is off. False: it is not this call that did.
GMT_COLD bool wake_recording();

/// The same where recording waits for `seen` to come up to `threshold`, a field of `control` of an asleep log; 0 = it does not.
inline bool wakes(const uint64_t &threshold, uint64_t seen) {
  const uint64_t least = __atomic_load_n(&threshold, __ATOMIC_RELAXED);
  return least != 0 && seen >= least && wake_recording();
}

/// What the program has in errno, it has again behind this.
struct KeptErrno {
  const int saved = errno;
  ~KeptErrno() { errno = saved; }
};

/// True where a trace directory was named: else the library does nothing at all.
bool configured();

/// Opens the log of this process if that has not happened; `*opened` becomes true where it is this call that did. False:
/// recording is impossible (counted, and noted once).
GMT_COLD bool open_log(bool *opened);

/// Makes the calling thread ready to write; slow path of `enter`.
GMT_COLD bool attach_thread(Thread &thread);

void count_loss(gmt_loss cause);

/// Notes in the header where the two clocks stand, from which a reader finds the counter's rate. Not for the hot path.
void renew_clock();

/// Makes sure that the next `slots` slots lie in one chunk. False: no room, counted.
GMT_COLD bool ensure_slow(Thread &thread, uint32_t slots);
inline bool ensure(Thread &thread, uint32_t slots) {
  if (__builtin_expect(thread.chunk && thread.next + slots <= GMT_SLOTS_PER_CHUNK, 1)) return true;
  return ensure_slow(thread, slots);
}

/// Room for `slots` slots in a row in this thread's chunk; null: lost, and counted.
inline void *reserve(Thread &thread, uint32_t slots) {
  if (!ensure(thread, slots)) return nullptr;
  gmt_event *at = reinterpret_cast<gmt_event *>(thread.chunk + 1) + thread.next;
  static_assert(sizeof(gmt_chunk_header) == 2 * sizeof(gmt_event));
  thread.next += slots;
  fetch_to_write(at + 12);
  return at;
}

/// Switches that the launcher made since the last event become marks in the log.
GMT_COLD void follow_control(Thread &thread);

/// Appends one side record with this payload, and the text behind it; false: no room, counted.
bool write_side_record(Thread &thread, gmt_side_record_kind kind, const void *payload, uint32_t bytes,
                       std::string_view text);
template <class Record>
bool write_side_record(Thread &thread, gmt_side_record_kind kind, const Record &record, std::string_view text = {}) {
  return write_side_record(thread, kind, &record, sizeof record, text);
}

/// The same without a call, for the hot path.
template <class Payload>
inline bool write_small(Thread &thread, gmt_side_record_kind kind, const Payload &payload) {
  static_assert(sizeof payload <= sizeof gmt_side_record::payload);
  auto *local = static_cast<gmt_side_record *>(reserve(thread, 1));
  if (!local) return false;
  local->kind = kind;
  local->flags = 0;
  local->slots = 1;
  local->bytes = sizeof payload;
  __builtin_memcpy(local->payload, &payload, sizeof payload);
  __atomic_store_n(&local->commit, GMT_SIDE_RECORD_BIT | thread.index, __ATOMIC_RELEASE);
  return true;
}

/// So much of a UTF-8 text as has at most `most` bytes: not a part of a character.
std::string_view cut(std::string_view text, size_t most);

/// Appends a remark for the user (kept short, never on the hot path).
void write_note(Thread &thread, gmt_note_code code, std::string_view text);

/// Writes the command line and, once known, the Python version.
void write_process(Thread &thread, uint32_t python_version);

/// Writes this thread's number in the system and its name.
void write_thread(Thread &thread);

/// What the log before, the parent's, described is not described in a new one (entry.cpp).
void forget_described();

/// Notes what a user should know of how this process is recorded; at the begin of every log (entry.cpp).
void describe_process(Thread &thread);

/// The process ends: what is freed from here on proves nothing about leaks. Idempotent.
GMT_COLD void mark_ending(Thread &thread);

/// The slow path of `enter`: a thread's first event, and all while recording is off or has just been switched.
GMT_COLD bool enter_slow(Thread &thread, uint32_t generation);

/// From here to `leave` the thread's chunk is its own. What another thread takes from it, it took before (open_chunks.cpp).
inline void begin_writing(Thread &thread) {
  __atomic_store_n(&thread.busy, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
inline bool has_chunk(const Thread &thread, uint32_t generation) {
  return __atomic_load_n(&thread.generation, __ATOMIC_RELAXED) == generation;
}

/// Begins work inside the tracer on this thread. False: nothing may be written now.
inline bool enter(Thread &thread) {
  const uint32_t generation = log_generation();
  if (__builtin_expect(thread.busy, 0)) {
    if (generation != 0 && thread.indexed_generation == generation) count_loss(GMT_LOST_REENTRANT);
    return false;
  }
  begin_writing(thread);
  if (__builtin_expect(generation == 0 || !has_chunk(thread, generation), 0)) return enter_slow(thread, generation);
  if (g_log.control) {
    const bool switched = __atomic_load_n(&g_log.control->generation, __ATOMIC_RELAXED) !=
                          __atomic_load_n(&g_log.seen_control, __ATOMIC_RELAXED);
    if (__builtin_expect(switched || __atomic_load_n(&g_log.control->recording, __ATOMIC_RELAXED) == 0, 0))
      return enter_slow(thread, generation);
  }
  return true;
}
inline void leave(Thread &thread) { __atomic_store_n(&thread.busy, 0, __ATOMIC_RELEASE); }

/// Appends one event; `reserve` has been called for it, so nothing can fail any more. The sequence is taken before the slot is
/// touched: an atomic addition waits for the stores before it, and the slot may be in another core's cache.
inline void commit_event(Thread &thread, gmt_event *slot, uint8_t kind, uint8_t device, uint64_t address,
                         uint64_t bytes, uint32_t stack, uint64_t ticks) {
  const uint64_t sequence = __atomic_fetch_add(&g_log.file->next_sequence, 1, __ATOMIC_RELAXED);
  slot->address = address;
  slot->size = gmt_size_field(bytes) << 16 | static_cast<uint64_t>(device) << 8 | kind;
  slot->stack = stack;
  slot->time = static_cast<uint32_t>(ticks - thread.base_ticks);
  __atomic_store_n(&slot->commit, sequence << 16 | thread.index, __ATOMIC_RELEASE);
}

/// Time of an event about to be written, with a time base in front of it where 32 bits no longer reach.
GMT_COLD uint64_t stamp_slow(Thread &thread, uint64_t ticks);
inline uint64_t stamp(Thread &thread) {
  const uint64_t ticks = ticks_of(g_log.clock);
  if (__builtin_expect(ticks - thread.base_ticks > UINT32_MAX, 0)) return stamp_slow(thread, ticks);
  return ticks;
}

/// One event without a record in front of it.
inline void write_event(Thread &thread, uint8_t kind, uint8_t device, uint64_t address, uint64_t bytes,
                        uint32_t stack) {
  const uint64_t ticks = stamp(thread);
  auto *slot = static_cast<gmt_event *>(reserve(thread, 1));
  // `reserve` may have moved to a chunk with a later base: time never runs backwards within it.
  if (slot)
    commit_event(thread, slot, kind, device, address, bytes, stack,
                 ticks < thread.base_ticks ? thread.base_ticks : ticks);
}

}  // namespace gmt::inject
