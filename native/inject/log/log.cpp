#include "inject/log/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/hooks/elf.h"
#include "inject/log/chunk_supply.h"
#include "inject/log/clock_pair.h"
#include "inject/log/new_chunk.h"
#include "inject/log/open_chunks.h"
#include "inject/log/thread_indices.h"
#include "inject/log_space.h"
#include "wire/files.h"
#include "wire/process_start.h"

namespace gmt::inject {

__thread Thread t_thread __attribute__((tls_model("initial-exec")));
GMT_HOT_STATE Log g_log;

namespace {

enum : uint32_t { kClosed, kOpen, kRefused, kOpening };  // kOpening + the process that opens it: not a fork
uint32_t g_state;
uint32_t g_early_losses;                 ///< of threads that could not wait until the log was open
constexpr uint32_t kWorthLeaving = 256;  ///< slots
uint32_t g_last_generation;
uint32_t g_ending;
pthread_key_t g_key;
int (*g_set_specific)(pthread_key_t, const void *);
char g_path[4096];

const char *trace_directory() { return getenv("GPU_MEMTRACE_DIR"); }

void map_control(const char *directory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/control", directory);
  Descriptor fd(open_file(path, O_RDWR, FileLinks::kRefused));
  g_log.can_wake = fd >= 0;
  if (fd < 0) fd = Descriptor(open_file(path, O_RDONLY, FileLinks::kRefused));
  if (fd < 0) return;
  if (lseek(fd, 0, SEEK_END) < static_cast<off_t>(sizeof(gmt_control))) return;
  const int access = g_log.can_wake ? PROT_READ | PROT_WRITE : PROT_READ;
  void *at = mmap(nullptr, sizeof(gmt_control), access, MAP_SHARED, fd, 0);
  const auto *control = at == MAP_FAILED ? nullptr : static_cast<const gmt_control *>(at);
  if (control && control->magic == GMT_CONTROL_MAGIC) g_log.control = control;
}

int create_file(const char *directory) {
  snprintf(g_path, sizeof g_path, "%s/%d-%llx" GMT_LOG_SUFFIX, directory, static_cast<int>(getpid()),
           static_cast<unsigned long long>(clock_ns(CLOCK_MONOTONIC)));
  return create_named(g_path);
}

void fill_header(gmt_file_header *file) {
  file->version = GMT_LOG_VERSION;
  file->header_bytes = GMT_FILE_HEADER_BYTES;
  file->chunk_bytes = GMT_CHUNK_BYTES;
  file->slot_bytes = GMT_SLOT_BYTES;
  file->pid = static_cast<uint32_t>(getpid());
  file->parent_pid = static_cast<uint32_t>(getppid());
  file->uid = getuid();
  file->clock = g_log.clock;
  const ClockPair start = read_clocks(g_log.clock);
  file->start_ticks = start.ticks;
  file->start_monotonic_ns = start.monotonic_ns;
  file->start_realtime_ns = clock_ns(CLOCK_REALTIME);
  file->process_start = gmt_own_start();
  file->next_sequence = 1;
  __atomic_store_n(&file->magic, GMT_LOG_MAGIC, __ATOMIC_RELEASE);
}

Guard *make_guard() {
  void *at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  // Without MADV_WIPEONFORK (Linux < 4.14) a forked child would write into its parent's log.
  if (madvise(at, 4096, MADV_WIPEONFORK) != 0) {
    munmap(at, 4096);
    return nullptr;
  }
  return static_cast<Guard *>(at);
}

/// What the program writes to its stderr is for people, or for what started it. A file may be its data.
bool stderr_is_read() {
  struct stat facts;
  return facts_of(STDERR_FILENO, &facts) &&
         (S_ISCHR(facts.st_mode) || S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
}

/// One line on stderr, or in the trace's folder.
void refuse(const char *what) {
  static const char hint[] = "gpu-memtrace: this process is not recorded: ";
  char text[512], path[4096];
  const int n = snprintf(text, sizeof text, "%s%s: %s\n", hint, what, strerror(errno));
  const size_t bytes = n < 0 ? 0 : static_cast<size_t>(n) < sizeof text ? static_cast<size_t>(n) : sizeof text - 1;
  snprintf(path, sizeof path, "%s/not-recorded-%d.txt", trace_directory(), static_cast<int>(getpid()));
  const bool is_read = stderr_is_read();
  const int to = is_read ? STDERR_FILENO : create_named(path);
  if (to >= 0 && write(to, text, bytes) < 0) errno = 0;
  if (to >= 0 && !is_read) close(to);
}

bool create_log(const char *directory) {
  if (!g_log.guard) __atomic_store_n(&g_log.guard, make_guard(), __ATOMIC_RELEASE);
  if (!g_log.guard) return refuse("the kernel is older than 4.14"), false;
  if (g_log.file) munmap(g_log.file, GMT_FILE_HEADER_BYTES);  // the parent's, after a fork
  g_log.file = nullptr;
  const int fd = create_file(directory);
  auto *file = static_cast<gmt_file_header *>(open_piece(fd, 0, GMT_FILE_HEADER_BYTES));
  if (!file) {
    refuse(directory);
    if (fd >= 0) remove_file(g_path);
    return false;
  }
  g_log.clock = best_clock();
  const char *budget = getenv("GPU_MEMTRACE_BUDGET");
  g_log.budget_chunks = budget && *budget ? strtoull(budget, nullptr, 10) / GMT_CHUNK_BYTES : ~0ull;
  const char *lean = getenv("GPU_MEMTRACE_LEAN");
  g_log.lean = lean && strcmp(lean, "1") == 0;
  fill_header(file);
  g_log.file = file;
  return true;
}

gmt_event *slot_at(gmt_chunk_header *chunk, uint32_t slot) { return reinterpret_cast<gmt_event *>(chunk + 1) + slot; }

/// Marks that nothing follows: only then is the chunk freed.
void end_chunk(const Thread &thread) {
  if (thread.next >= GMT_SLOTS_PER_CHUNK) return;
  auto *end = reinterpret_cast<gmt_side_record *>(slot_at(thread.chunk, thread.next));
  end->kind = GMT_END_OF_CHUNK;
  end->slots = 1;
  __atomic_store_n(&end->commit, GMT_SIDE_RECORD_BIT | thread.index, __ATOMIC_RELEASE);
}

/// The slot behind what was written, where the thread ended amid a record.
uint32_t written_slots(gmt_chunk_header *chunk) {
  uint32_t at = 0;
  while (at < GMT_SLOTS_PER_CHUNK && slot_at(chunk, at)->commit)
    at += slot_at(chunk, at)->commit & GMT_SIDE_RECORD_BIT
              ? reinterpret_cast<gmt_side_record *>(slot_at(chunk, at))->slots
              : 1;
  return at;
}

void on_thread_end(void *) {
  Thread &thread = t_thread;
  const bool amid = thread.busy;
  begin_writing(thread);
  // After a fork chunk and index are the parent's: not for this process's threads.
  const bool ours = thread.indexed_generation == __atomic_load_n(&g_log.guard->generation, __ATOMIC_ACQUIRE);
  if (ours) {
    if (thread.chunk && amid) thread.next = written_slots(thread.chunk);
    leave_place(thread, thread.chunk && !amid && thread.next + kWorthLeaving < GMT_SLOTS_PER_CHUNK);
    if (thread.chunk) end_chunk(thread);
    give_thread_index(thread.index);
  }
  if (thread.chunk) munmap(thread.chunk, GMT_CHUNK_BYTES);
  thread.chunk = nullptr;
  thread.place = 0;
  thread.generation = thread.indexed_generation = 0;
  thread.ended = 1;
  leave(thread);
}

/// What was lost before the log was open is counted in it.
void count_early_losses() {
  if (__atomic_load_n(&g_early_losses, __ATOMIC_RELAXED) == 0) return;
  const uint32_t lost = __atomic_exchange_n(&g_early_losses, 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&g_log.file->lost[GMT_LOST_LOG_FILE], lost, __ATOMIC_RELAXED);
}

void at_process_end() {
  // A forked child that recorded nothing has no log, and this is none for it.
  if (log_generation() == 0) return;
  Thread &thread = t_thread;
  if (enter(thread)) {
    mark_ending(thread);
    leave(thread);
  }
  count_early_losses();
  renew_clock();
  __atomic_store_n(&g_log.file->ended, 1, __ATOMIC_RELEASE);
}

/// Registers for the ends of threads and of the process. pthread's functions are looked up: before glibc 2.34 they are in
/// a library that a shell or a compiler does not load, and that this one must not bring in.
void watch_ends() {
  if (g_set_specific) return;
  int (*create)(pthread_key_t *, void (*)(void *));
  int (*set)(pthread_key_t, const void *);
  if (resolve(RTLD_DEFAULT, &create, "pthread_key_create") && resolve(RTLD_DEFAULT, &set, "pthread_setspecific") &&
      create(&g_key, on_thread_end) == 0)
    g_set_specific = set;
  atexit(at_process_end);
}

void close_chunk(Thread &thread) {
  if (!thread.chunk) return;
  end_chunk(thread);
  supply_retire(thread.chunk);
  thread.chunk = nullptr;
  supply_start(make_spare_chunk);
}

/// Records from where on, and for which thread, the index stands; the log's readers keep apart what came before.
void write_writer(Thread &thread) {
  const gmt_writer writer{__atomic_load_n(&g_log.file->next_sequence, __ATOMIC_RELAXED), thread.number, 0};
  write_side_record(thread, GMT_WRITER, writer);
}

/// Of all chunks that there may be, an eighth is open.
uint32_t open_places() {
  const uint64_t places = g_log.budget_chunks / 8;
  return places < 8 ? 8 : places > UINT16_MAX ? UINT16_MAX : static_cast<uint32_t>(places);
}

/// The chunk may be one that another thread was writing; it continues with a time base, since the old one is unknown.
bool acquire_chunk(Thread &thread) {
  const KeptErrno kept;
  if (!thread.place) take_place(thread, open_places(), g_set_specific && !thread.ended);
  if (thread.chunk && thread.next + kWorthLeaving >= GMT_SLOTS_PER_CHUNK) close_chunk(thread);
  const bool goes_on = thread.chunk != nullptr;
  if (!goes_on) {
    thread.chunk = new_chunk(thread);
    thread.next = 0;
  }
  const ClockPair now = read_clocks(g_log.clock);
  thread.base_ticks = thread.chunk && !goes_on ? thread.chunk->base_ticks : now.ticks;
  if (thread.chunk && (goes_on || thread.number != thread.index)) write_writer(thread);
  if (goes_on) {
    const gmt_time_base base{now.ticks, now.monotonic_ns};
    write_side_record(thread, GMT_TIME_BASE, base);
  }
  return thread.chunk != nullptr;
}

/// The log is opened by another thread: waits a second once, on a slow disk, and then counts what it loses. Gives the state.
uint32_t wait_while(uint32_t opening) {
  constexpr int kTries = 5000;
  const bool waits = __atomic_load_n(&g_early_losses, __ATOMIC_RELAXED) == 0;
  uint32_t state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  for (int i = 0; waits && i < kTries && state == opening; i++) {
    const timespec moment{0, 200'000};
    nanosleep(&moment, nullptr);
    state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  }
  return state;
}

bool number_thread(Thread &thread, uint32_t generation) {
  thread.chunk = nullptr;  // a parent's mapping after a fork: not ours to write
  thread.place = 0;
  thread.pending_free = 0;
  if (!take_thread_index(&thread.index)) return count_loss(GMT_LOST_THREADS), false;
  thread.number = static_cast<uint32_t>(__atomic_fetch_add(&g_log.file->thread_count, 1, __ATOMIC_RELAXED));
  thread.indexed_generation = generation;
  if (g_set_specific) g_set_specific(g_key, &thread);
  thread.autograd_role = GMT_AUTOGRAD_NONE;
  thread.call_frame = 0;  // its stack has a number of the log before
  return true;
}

void describe_thread(Thread &thread) {
  if (thread.number == 0) {
    write_process(thread, 0);
    const bool on = !g_log.control || __atomic_load_n(&g_log.control->recording, __ATOMIC_RELAXED);
    write_event(thread, on ? GMT_RECORDING_START : GMT_RECORDING_STOP, GMT_DEVICE_NONE, 0, 0, 0);
  }
  write_thread(thread);
  if (thread.number == 0) describe_process(thread);
}

}  // namespace

const char *log_path() { return g_path; }

bool configured() {
  const char *directory = trace_directory();
  return directory && *directory;
}

void renew_clock() {
  static uint32_t storing;
  store_clock_pair(g_log.file, &storing, [] { return read_clocks(g_log.clock); });
}

void count_loss(gmt_loss cause) {
  if (g_log.file) __atomic_fetch_add(&g_log.file->lost[cause], 1, __ATOMIC_RELAXED);
}

bool open_log(bool *opened) {
  uint32_t state = __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
  // In this order: a log that is just open is not opened again.
  if (state == kOpen && log_generation() != 0) return true;
  if (state == kRefused || !configured()) return false;
  const KeptErrno kept;
  const uint32_t opening = kOpening + static_cast<uint32_t>(getpid());
  // kOpen with generation 0, or the number of another process: this is a forked child.
  if (state == opening ||
      !__atomic_compare_exchange_n(&g_state, &state, opening, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    state = wait_while(opening);
    if (state == opening) __atomic_fetch_add(&g_early_losses, 1, __ATOMIC_RELAXED);
    return state == kOpen;
  }
  const bool done = create_log(trace_directory());
  if (done) {
    open_chunks_forget();
    supply_forget();
    thread_indices_forget();
    forget_described();
    new_chunk_forget();
    __atomic_store_n(&g_ending, 0, __ATOMIC_RELAXED);
    if (!g_log.control) map_control(trace_directory());
    if (g_log.control)
      g_log.seen_control = g_log.first_control = __atomic_load_n(&g_log.control->generation, __ATOMIC_ACQUIRE);
    watch_ends();
    __atomic_store_n(&g_log.guard->generation, ++g_last_generation, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&g_state, done ? kOpen : kRefused, __ATOMIC_RELEASE);
  *opened = done;
  return done;
}

bool attach_thread(Thread &thread) {
  bool opened = false;
  if (!open_log(&opened)) return false;
  const KeptErrno kept;
  const uint32_t generation = __atomic_load_n(&g_log.guard->generation, __ATOMIC_ACQUIRE);
  count_early_losses();
  if (thread.indexed_generation != generation && !number_thread(thread, generation)) return false;
  if (keeps_place(thread)) return true;
  if (!acquire_chunk(thread)) {
    leave_place(thread, false);
    return false;
  }
  __atomic_store_n(&thread.generation, generation, __ATOMIC_RELAXED);
  if (thread.described_generation != generation) describe_thread(thread);
  thread.described_generation = generation;
  return true;
}

bool ensure_slow(Thread &thread, uint32_t slots) {
  if (slots > GMT_SLOTS_PER_CHUNK) return count_loss(GMT_LOST_RECORD_SIZE), false;
  do {  // more than once where a spare chunk is nearly full
    close_chunk(thread);
    if (!acquire_chunk(thread)) return false;
  } while (thread.next + slots > GMT_SLOTS_PER_CHUNK);
  return true;
}

uint64_t stamp_slow(Thread &thread, uint64_t ticks) {
  const ClockPair now = read_clocks(g_log.clock);
  const gmt_time_base base{now.ticks, now.monotonic_ns};
  if (write_side_record(thread, GMT_TIME_BASE, base)) thread.base_ticks = now.ticks;
  return ticks < now.ticks ? now.ticks : ticks;
}

bool write_side_record(Thread &thread, gmt_side_record_kind kind, const void *payload, uint32_t bytes,
                       std::string_view text) {
  const auto all = bytes + static_cast<uint32_t>(text.size());
  const uint32_t slots = (16 + all + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES;
  auto *local = static_cast<gmt_side_record *>(reserve(thread, slots));
  if (!local) return false;
  local->kind = kind;
  local->slots = static_cast<uint16_t>(slots);
  local->bytes = all;
  char *at = reinterpret_cast<char *>(local) + 16;
  memcpy(at, payload, bytes);
  if (!text.empty()) memcpy(at + bytes, text.data(), text.size());
  __atomic_store_n(&local->commit, GMT_SIDE_RECORD_BIT | thread.index, __ATOMIC_RELEASE);
  return true;
}

void mark_ending(Thread &thread) {
  if (__atomic_exchange_n(&g_ending, 1, __ATOMIC_RELAXED) == 0)
    write_event(thread, GMT_PROCESS_ENDING, GMT_DEVICE_NONE, 0, 0, 0);
}

}  // namespace gmt::inject
