#pragma once
// Writes the trace log of one process through native/wire/layout.h, as a traced process would, for tests: several
// threads, chunks, side records, and the faults that a real run may leave (torn events, loss counters, no end).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/layout.h"

namespace gmt::test {

/// Field 22 of the file of this process's first thread.
inline uint64_t own_process_start() {
  char text[2048] = {};
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/stat";
  FILE *file = std::fopen(path.c_str(), "r");
  if (!file) return 0;
  size_t got = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  std::string_view rest(text, got);
  rest.remove_prefix(rest.rfind(')') + 2);
  for (int field = 3; field < 22; ++field) rest.remove_prefix(rest.find(' ') + 1);
  return std::strtoull(rest.data(), nullptr, 10);
}

struct LogOptions {
  uint32_t pid = 5000001;  ///< above pid_max: a process that is gone
  uint32_t parent_pid = 1;
  uint32_t uid = 0;
  uint32_t driver_source = GMT_DRIVER_CUPTI;
  uint32_t simulated = 1;
  uint32_t clock = GMT_CLOCK_MONOTONIC_NS;
  double ns_per_tick = 1;  ///< with GMT_CLOCK_TSC
  uint64_t start_realtime_ns = 1'700'000'000'000'000'000ull;
  uint64_t start_monotonic_ns = 1'000'000'000'000ull;
  uint64_t process_start = 1;
  uint64_t max_bytes = 4ull << 30;  ///< address space taken; the file is as big as what was written
  std::string nonce = "00000001";

  /// A process that is alive: this one.
  static LogOptions alive() {
    LogOptions options;
    options.pid = static_cast<uint32_t>(getpid());
    options.process_start = own_process_start();
    return options;
  }
};

struct CodeOptions {
  uint32_t first_line = 1;
  uint16_t python_version = 0x030b;
  uint16_t flags = 0;
  std::string line_table;
};

/// Calls that name a thread index must come from one thread at a time per index; different indices may be used from
/// different threads at the same time.
class LogWriter {
 public:
  explicit LogWriter(const std::string &directory, LogOptions options = {})
      : options_(options),
        path_(directory + "/" + std::to_string(options.pid) + "-" + options.nonce + GMT_LOG_SUFFIX),
        threads_(65536) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd_ < 0 || ::ftruncate(fd_, GMT_FILE_HEADER_BYTES) != 0) std::abort();
    void *mapped = ::mmap(nullptr, options_.max_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
    if (mapped == MAP_FAILED) std::abort();
    base_ = static_cast<unsigned char *>(mapped);
    size_ = GMT_FILE_HEADER_BYTES;
    write_header();
  }
  ~LogWriter() {
    ::munmap(base_, options_.max_bytes);
    ::close(fd_);
  }
  LogWriter(const LogWriter &) = delete;
  LogWriter &operator=(const LogWriter &) = delete;

  const std::string &path() const { return path_; }
  gmt_file_header &header() { return *reinterpret_cast<gmt_file_header *>(base_); }
  /// The bytes of the file: to damage it.
  unsigned char *bytes() { return base_; }
  uint64_t size() const { return size_.load(); }
  unsigned char *chunk(uint64_t index) { return base_ + GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES; }
  uint64_t chunks() { return atomic(header().chunks_reserved).load(); }
  uint64_t next_sequence() { return atomic(header().next_sequence).load(); }

  /// The time of what is written next, in ns since the process's start. Each event moves it on by `step_ns`.
  void at(uint64_t ns) { now_ns_.store(ns); }
  uint64_t now_ns() const { return now_ns_.load(); }
  uint64_t step_ns = 1000;

  /// Describes a thread; returns its index. (Events may name threads that were never described.)
  uint16_t add_thread(uint32_t tid, std::string_view name) {
    uint16_t index = static_cast<uint16_t>(atomic(header().thread_count).fetch_add(1));
    add_thread_record(index, tid, name);
    return index;
  }
  /// A (new) name for an index.
  void add_thread_record(uint16_t index, uint32_t tid, std::string_view name) {
    gmt_thread_record record{tid, index, static_cast<uint16_t>(name.size())};
    add_side_record(index, GMT_THREAD, text_of(record) + std::string(name));
  }

  /// From here on `index` is the thread `number`, which goes on in the chunk of `before`.
  void take_over(uint16_t index, uint32_t number, uint16_t before) {
    if (index != before) threads_[index] = std::exchange(threads_[before], {});
    add_side_record(index, GMT_WRITER, text_of(gmt_writer{next_sequence(), number, 0}));
  }

  /// Returns the sequence. `bytes` < 2^48.
  uint64_t add_event(uint16_t thread, uint8_t kind, uint64_t address, uint64_t bytes, uint8_t device = 0,
                     uint32_t stack = 0) {
    gmt_event *slot = reinterpret_cast<gmt_event *>(take(thread, 1));
    uint64_t ticks = ticks_at(now_ns_.fetch_add(step_ns));
    if (ticks - threads_[thread].base_ticks > 0xffffffffull) {
      unput(thread, 1);
      add_time_base(thread, ticks);
      slot = reinterpret_cast<gmt_event *>(take(thread, 1));
    }
    uint64_t sequence = atomic(header().next_sequence).fetch_add(1);
    slot->address = address;
    slot->size = gmt_size_field(bytes) << 16 | static_cast<uint64_t>(device) << 8 | kind;
    slot->stack = stack;
    slot->time = static_cast<uint32_t>(ticks - threads_[thread].base_ticks);
    atomic(slot->commit).store(sequence << 16 | thread, std::memory_order_release);
    return sequence;
  }
  /// A driver event with its detail.
  uint64_t add_event(uint16_t thread, const gmt_driver_detail &detail, uint8_t kind, uint64_t address, uint64_t bytes,
                     uint8_t device = 0, uint32_t stack = 0) {
    add_detail(thread, detail);
    return add_event(thread, kind, address, bytes, device, stack);
  }
  /// A sequence that was taken by a thread that never wrote its event. Returns the sequence.
  uint64_t add_torn_event() { return atomic(header().next_sequence).fetch_add(1); }
  /// Writes the event of a sequence that was taken before (a thread that was held up in between). The thread's chunk
  /// must be older than the sequence.
  void add_late_event(uint16_t thread, uint64_t sequence, uint8_t kind, uint64_t address, uint64_t bytes) {
    gmt_event *slot = reinterpret_cast<gmt_event *>(take(thread, 1));
    slot->address = address;
    slot->size = bytes << 16 | kind;
    slot->stack = 0;
    slot->time = static_cast<uint32_t>(ticks_at(now_ns_.load()) - threads_[thread].base_ticks);
    atomic(slot->commit).store(sequence << 16 | thread, std::memory_order_release);
  }

  /// About the next event of this thread. Keep the two together: nothing else of the thread in between.
  void add_detail(uint16_t thread, const gmt_driver_detail &detail) {
    make_room(thread, 5);  // 2 slots, perhaps a time base, the event: one chunk
    add_side_record(thread, GMT_DRIVER_DETAIL, text_of(detail));
  }
  /// Holds for this thread's tensor events from here on.
  void add_autograd(uint16_t thread, uint32_t role, uint64_t sequence, uint32_t forward_thread = 0) {
    gmt_autograd state{sequence, forward_thread, role};
    add_side_record(thread, GMT_AUTOGRAD, text_of(state));
  }
  /// An autograd node was made by the line of `stack`.
  void add_node(uint16_t thread, uint64_t sequence, uint32_t stack, uint32_t torch_thread) {
    add_side_record(thread, GMT_NODE, text_of(gmt_node{sequence, stack, torch_thread}));
  }
  /// What the block at `address` is, as far as the events up to `sequence` go.
  void add_name(uint16_t thread, uint64_t address, uint64_t sequence, uint8_t category, std::string_view text,
                uint8_t device = 0) {
    const gmt_name record{address, sequence, static_cast<uint32_t>(text.size()), device, category, 0};
    add_side_record(thread, GMT_NAME, text_of(record) + std::string(text));
  }
  /// At the present time.
  void add_memory(uint16_t thread, uint32_t device, uint64_t process, uint64_t used, uint64_t total) {
    add_side_record(thread, GMT_MEMORY, text_of(gmt_memory{ticks_at(now_ns_.load()), process, used, total, device, 0}));
  }
  /// The same; without a name it ends.
  void add_range(uint16_t thread, uint32_t key, std::string_view name) {
    const gmt_range record{ticks_at(now_ns_.load()), key, static_cast<uint32_t>(name.size())};
    add_side_record(thread, GMT_RANGE, text_of(record) + std::string(name));
  }
  /// What the framework's allocator said behind the event `sequence`.
  void add_allocator(uint16_t thread, uint32_t device, uint64_t allocated, uint64_t active, uint64_t sequence = 0) {
    add_side_record(thread, GMT_ALLOCATOR, text_of(gmt_allocator{sequence, allocated, active, device, 0}));
  }
  void add_block(uint16_t thread, const gmt_block &block) { add_side_record(thread, GMT_BLOCK, text_of(block)); }
  /// What an allocator has of device 0, all of it in one record.
  void add_before(uint16_t thread, uint32_t kind, const std::vector<gmt_before_block> &blocks, uint32_t stack) {
    const gmt_before about{next_sequence() - 1, 0, 0, stack, kind, static_cast<uint32_t>(blocks.size()), 0, 1, 0};
    const auto *from = reinterpret_cast<const char *>(blocks.data());
    add_side_record(thread, GMT_BEFORE, text_of(about) + std::string(from, blocks.size() * sizeof blocks[0]));
  }
  void add_answer(uint16_t thread, uint32_t request, uint16_t part, uint16_t parts, std::string_view text,
                  uint64_t sequence = 0) {
    const gmt_answer record{sequence, request, part, parts, static_cast<uint32_t>(text.size()), 0};
    add_side_record(thread, GMT_ANSWER, text_of(record) + std::string(text));
  }
  void add_time_base(uint16_t thread, uint64_t ticks) {
    gmt_time_base base{ticks, monotonic_of(ticks)};
    add_side_record(thread, GMT_TIME_BASE, text_of(base));
    threads_[thread].base_ticks = ticks;
  }

  /// Returns the code id.
  uint32_t add_code(uint16_t thread, std::string_view file, std::string_view name, const CodeOptions &code = {}) {
    uint32_t id = next_code_.fetch_add(1);
    gmt_code_record record{id,
                           code.first_line,
                           code.python_version,
                           code.flags,
                           static_cast<uint32_t>(file.size()),
                           static_cast<uint32_t>(name.size()),
                           static_cast<uint32_t>(code.line_table.size())};
    add_side_record(thread, GMT_CODE, text_of(record) + std::string(file) + std::string(name) + code.line_table);
    return id;
  }
  /// A code object all of whose instructions are on one line.
  uint32_t add_code(uint16_t thread, std::string_view file, std::string_view name, uint32_t line) {
    CodeOptions code;
    code.first_line = line;
    for (int entry = 0; entry < 32; ++entry) code.line_table += "\xd7\x01";  // 8 units, same line: 512 bytes of code
    return add_code(thread, file, name, code);
  }
  /// Innermost frame first. Returns the stack id.
  uint32_t add_stack(uint16_t thread, const std::vector<gmt_frame> &frames, uint16_t flags = 0) {
    uint32_t id = next_stack_.fetch_add(1);
    gmt_stack_record record{id, static_cast<uint16_t>(frames.size()), flags};
    std::string payload = text_of(record);
    for (const gmt_frame &frame : frames) payload += text_of(frame);
    add_side_record(thread, GMT_STACK, payload);
    return id;
  }
  /// A stack of one-line code objects: {{file, function, line}, ...}, innermost first.
  struct Line {
    std::string_view file, function;
    uint32_t line;
  };
  uint32_t add_stack_of(uint16_t thread, const std::vector<Line> &lines) {
    std::vector<gmt_frame> frames;
    for (const Line &line : lines) frames.push_back({add_code(thread, line.file, line.function, line.line), 0});
    return add_stack(thread, frames);
  }
  void add_device(uint16_t thread, uint32_t device, std::string_view name, uint64_t total_bytes) {
    gmt_device_record record{device, static_cast<uint32_t>(name.size()), total_bytes};
    add_side_record(thread, GMT_DEVICE, text_of(record) + std::string(name));
  }
  /// `command`: arguments, each ended by NUL. `python`: PY_VERSION_HEX.
  void add_process(uint16_t thread, std::string_view command, uint32_t python = 0x030b07f0) {
    gmt_process_record record{static_cast<uint32_t>(command.size()), python};
    add_side_record(thread, GMT_PROCESS, text_of(record) + std::string(command));
  }
  void add_note(uint16_t thread, uint32_t code, std::string_view text) {
    gmt_note record{code, static_cast<uint32_t>(text.size())};
    add_side_record(thread, GMT_NOTE, text_of(record) + std::string(text));
  }
  void add_library(uint16_t thread, uint32_t id, std::string_view path) {
    gmt_library record{id, static_cast<uint32_t>(path.size())};
    add_side_record(thread, GMT_LIBRARY, text_of(record) + std::string(path));
  }
  /// Any side record.
  void add_side_record(uint16_t thread, uint8_t kind, const std::string &payload) {
    uint32_t slots = static_cast<uint32_t>((16 + payload.size() + GMT_SLOT_BYTES - 1) / GMT_SLOT_BYTES);
    gmt_side_record *local = reinterpret_cast<gmt_side_record *>(take(thread, slots));
    local->kind = kind;
    local->flags = 0;
    local->slots = static_cast<uint16_t>(slots);
    local->bytes = static_cast<uint32_t>(payload.size());
    std::memcpy(local->payload, payload.data(), payload.size());
    atomic(local->commit).store(GMT_SIDE_RECORD_BIT | thread, std::memory_order_release);
  }

  /// Ends the thread's chunk: its next record begins a new one.
  void end_chunk(uint16_t thread) {
    ThreadState &state = threads_[thread];
    if (!state.chunk) return;
    if (state.used < GMT_SLOTS_PER_CHUNK) close_chunk(thread);
    state.chunk = nullptr;
  }
  /// Thread `from` ended; `to` goes on in its chunk.
  void hand_over(uint16_t from, uint16_t to) {
    threads_[to] = threads_[from];
    threads_[from] = {};
  }
  /// A chunk that was handed out and never written.
  void reserve_unwritten_chunk() { grow(atomic(header().chunks_reserved).fetch_add(1)); }
  void add_loss(gmt_loss cause, uint64_t count = 1) { atomic(header().lost[cause]).fetch_add(count); }
  /// The process ended in order.
  void end() { atomic(header().ended).store(1, std::memory_order_release); }

 private:
  struct ThreadState {
    unsigned char *chunk = nullptr;
    uint32_t used = 0;
    uint64_t base_ticks = 0;
  };

  static std::atomic_ref<uint64_t> atomic(uint64_t &word) { return std::atomic_ref<uint64_t>(word); }
  template <class T>
  static std::string text_of(const T &record) {
    return std::string(reinterpret_cast<const char *>(&record), sizeof record);
  }
  uint64_t ticks_at(uint64_t ns) const {
    if (options_.clock == GMT_CLOCK_MONOTONIC_NS) return options_.start_monotonic_ns + ns;
    return kStartTicks + static_cast<uint64_t>(static_cast<double>(ns) / options_.ns_per_tick);
  }
  uint64_t monotonic_of(uint64_t ticks) const {
    if (options_.clock == GMT_CLOCK_MONOTONIC_NS) return ticks;
    return options_.start_monotonic_ns +
           static_cast<uint64_t>(static_cast<double>(ticks - kStartTicks) * options_.ns_per_tick);
  }
  void write_header() {
    gmt_file_header &h = header();
    h.version = GMT_LOG_VERSION;
    h.header_bytes = GMT_FILE_HEADER_BYTES;
    h.chunk_bytes = GMT_CHUNK_BYTES;
    h.slot_bytes = GMT_SLOT_BYTES;
    h.pid = options_.pid;
    h.parent_pid = options_.parent_pid;
    h.uid = options_.uid;
    h.clock = options_.clock;
    h.start_ticks = ticks_at(0);
    h.start_monotonic_ns = options_.start_monotonic_ns;
    h.start_realtime_ns = options_.start_realtime_ns;
    h.driver_source = options_.driver_source;
    h.simulated = options_.simulated;
    h.process_start = options_.process_start;
    h.next_sequence = 1;
    atomic(h.magic).store(GMT_LOG_MAGIC, std::memory_order_release);
  }
  void grow(uint64_t chunk_index) {
    uint64_t wanted = GMT_FILE_HEADER_BYTES + (chunk_index + 1) * GMT_CHUNK_BYTES;
    if (wanted > options_.max_bytes) std::abort();
    uint64_t size = size_.load();
    // posix_fallocate never shortens, so threads may race here.
    if (::posix_fallocate(fd_, static_cast<off_t>(wanted - GMT_CHUNK_BYTES), GMT_CHUNK_BYTES) != 0) std::abort();
    while (size < wanted && !size_.compare_exchange_weak(size, wanted)) {
    }
  }
  void open_chunk(uint16_t thread) {
    uint64_t first = atomic(header().next_sequence).load();
    uint64_t index = atomic(header().chunks_reserved).fetch_add(1);
    grow(index);
    auto *head = reinterpret_cast<gmt_chunk_header *>(chunk(index));
    uint64_t ticks = ticks_at(now_ns_.load());
    head->index = static_cast<uint32_t>(index);
    head->first_sequence = first;
    head->base_ticks = ticks;
    head->monotonic_ns = monotonic_of(ticks);
    std::atomic_ref<uint32_t>(head->magic).store(GMT_CHUNK_MAGIC, std::memory_order_release);
    atomic(header().latest_monotonic_ns).store(monotonic_of(ticks));
    atomic(header().latest_ticks).store(ticks);
    threads_[thread] = {chunk(index), 0, ticks};
  }
  void close_chunk(uint16_t thread) {
    ThreadState &state = threads_[thread];
    auto *local = reinterpret_cast<gmt_side_record *>(state.chunk + GMT_CHUNK_HEADER_BYTES +
                                                      static_cast<size_t>(state.used) * GMT_SLOT_BYTES);
    local->kind = GMT_END_OF_CHUNK;
    local->slots = 1;
    local->bytes = 0;
    atomic(local->commit).store(GMT_SIDE_RECORD_BIT | thread, std::memory_order_release);
    state.used = GMT_SLOTS_PER_CHUNK;
  }
  void make_room(uint16_t thread, uint32_t slots) {
    ThreadState &state = threads_[thread];
    if (state.chunk && state.used + slots <= GMT_SLOTS_PER_CHUNK) return;
    if (state.chunk && state.used < GMT_SLOTS_PER_CHUNK) close_chunk(thread);
    open_chunk(thread);
  }
  unsigned char *take(uint16_t thread, uint32_t slots) {
    if (slots > GMT_SLOTS_PER_CHUNK) std::abort();
    make_room(thread, slots);
    ThreadState &state = threads_[thread];
    unsigned char *slot = state.chunk + GMT_CHUNK_HEADER_BYTES + static_cast<size_t>(state.used) * GMT_SLOT_BYTES;
    state.used += slots;
    return slot;
  }
  void unput(uint16_t thread, uint32_t slots) { threads_[thread].used -= slots; }

  static constexpr uint64_t kStartTicks = 123'456'789'000ull;
  LogOptions options_;
  std::string path_;
  std::vector<ThreadState> threads_;
  int fd_ = -1;
  unsigned char *base_ = nullptr;
  std::atomic<uint64_t> size_{0};
  std::atomic<uint64_t> now_ns_{0};
  std::atomic<uint32_t> next_code_{1};
  std::atomic<uint32_t> next_stack_{1};
};

}  // namespace gmt::test
