#pragma once
// The chunks of one log, which many threads wrote at once, in the one order of their sequence.
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "trace/log/batch_builder.h"
#include "trace/log/log_file.h"
#include "trace/log/losses.h"
#include "trace/log/process_tables.h"
#include "trace/log/session_clock.h"
#include "wire/layout.h"

namespace gmt::trace {

/// A place in one chunk, and what holds there.
struct Cursor {
  const std::byte *slots = nullptr;
  uint64_t chunk = 0;  ///< place in the log
  uint32_t at = 0;     ///< slot that is read next
  uint32_t end = 0;    ///< slots that lie in the file
  bool has_detail = false;
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;  ///< of the event read last, 0 = none
  uint64_t base_ns = 0;        ///< session time of the time base
  gmt_driver_detail detail{};

  /// All but the slots, which the log has.
  void checkpoint(Archive &a) { a(chunk, at, has_detail, first_sequence, last_sequence, base_ns, detail); }
  const std::byte *slot() const { return slots + static_cast<size_t>(at) * GMT_SLOT_BYTES; }
  const gmt_event &event() const { return *reinterpret_cast<const gmt_event *>(slot()); }
  /// First word of the slot; 0 = not written yet.
  uint64_t commit() const { return load_acquire(event().commit); }
};

/// Reads a log from its begin to what is written now, in steps. A sequence that was taken but is not written yet is
/// waited for; it is lost once nothing more can come (sealed), or 1,000,000 later events wait, or 2 s have passed in which no
/// thread of the process was stopped.
/// Where the recorder gives chunks back that were not read to their end, it is overtaken, and of no more use.
class Merge {
 public:
  static constexpr uint64_t kMaxWaitingEvents = 1'000'000;
  static constexpr uint64_t kMaxWaitNs = 2'000'000'000;

  explicit Merge(Clock clock) : clock_(clock) {}
  Merge(const Merge &) = delete;
  Merge &operator=(const Merge &) = delete;

  /// Adds events to `batch` until it is full (true: there may be more) or nothing more can be read now (false).
  /// `sealed`: the process is gone or the log is a saved one. `now_ns`: any steady clock, to measure waiting. Events later than the
  /// session time `until_ns` stay for another call: true, and next_ns() is the time of the first.
  bool read(LogFile &log, ProcessTables &tables, BatchBuilder &batch, bool sealed, uint64_t now_ns,
            uint64_t until_ns = ~0ull);
  uint64_t next_ns() const { return next_ns_; }
  /// What comes next is later than `ns`.
  void end_at(uint64_t ns) { next_ns_ = std::max(next_ns_, ns + 1); }
  /// What was read last was not given to `batch`.
  bool overtaken() const { return overtaken_; }

  /// Where it stands in the log, between two calls of read(). Reads into a new one; then resume() finds the places in the log.
  void checkpoint(Archive &a);
  void resume(Archive &a, LogFile &log);

  /// Which chunks were read to their end: of those `found`, all but the `unfinished`; they have nothing from `sequence` on. No chunk from
  /// `begun` on has anything before it.
  struct ReadPosition {
    uint64_t found = 0, begun = 0, sequence = 1;
    std::vector<uint64_t> unfinished;  ///< in order
  };
  ReadPosition read_position() const;
  /// Chunks that were read to their end.
  uint64_t finished_chunks() const { return finished_chunks_; }
  /// The log is to be another one, which has `chunks` of this one, in order. Where an unfinished one is not among them, it reads no
  /// further: it can only be kept as a checkpoint of a moment.
  void renumber(std::span<const uint64_t> chunks);

  /// What this reader found missing; without the counters of the header.
  const Losses &losses() const { return losses_; }
  uint64_t events() const { return events_; }
  /// Where in the log the first damaged place is; 0: none was met.
  uint64_t damaged_at() const { return damaged_at_; }
  bool started() const { return started_; }
  /// Session time of the event read last.
  uint64_t last_ns() const { return last_ns_; }
  /// 1 + the sequence read (or given up) last.
  uint64_t expected() const { return expected_; }

 private:
  enum class Next { kEvent, kUnwritten, kEnd, kLater };
  struct Waiting {
    uint64_t sequence;
    Cursor *cursor;
    bool operator<(const Waiting &other) const { return sequence > other.sequence; }
  };
  struct Pending {
    uint64_t first_sequence;
    uint64_t chunk;
    Cursor *cursor;  ///< from its place on nothing is below `first_sequence`; null: the chunk is to be opened
    bool operator<(const Pending &other) const { return first_sequence > other.first_sequence; }
  };
  /// Of an index: which thread has it, and its state.
  struct ThreadState {
    uint32_t number = 0;
    gmt_autograd autograd{};
    uint64_t generation = 0;  ///< of the batch that `autograd_index` is in
    uint16_t autograd_index = 0;
    void checkpoint(Archive &a) { a(number, autograd); }
  };
  struct PendingChunks : std::priority_queue<Pending> {
    const std::vector<Pending> &all() const { return c; }
  };
  struct Pass;  // what read() was called with

  bool read_events(Pass &pass);
  bool consume(Pass &pass);
  bool is_later(Pass &pass, const Cursor &cursor);
  uint64_t time_of(const Cursor &cursor) const;
  Next run(Pass &pass, Cursor &cursor);
  Next find_event(Pass &pass, Cursor &cursor);
  Next side_record(Pass &pass, Cursor &cursor);
  Next change_writer(Pass &pass, Cursor &cursor, uint16_t thread, std::span<const std::byte> payload);
  ThreadState &thread(uint16_t index);
  bool apply_side_record(Pass &pass, Cursor &cursor, uint8_t kind, uint16_t thread, std::span<const std::byte> payload);
  void emit(Pass &pass, Cursor &cursor);
  uint16_t autograd_index(BatchBuilder &batch, ThreadState &state);
  bool accepts(Pass &pass, const Cursor &cursor, uint64_t sequence);
  void damaged(uint64_t chunk, uint64_t slot, uint64_t events);
  void set_base(Cursor &cursor, uint64_t ticks, uint64_t monotonic_ns);
  void refresh_next(Pass &pass);
  void refresh_log(Pass &pass);
  void retry_unwritten(Pass &pass);
  bool find_chunk(Pass &pass, uint64_t chunk);
  void open_chunks(Pass &pass, uint64_t up_to_sequence);
  void enqueue(Pass &pass, Cursor &cursor, Next next);
  bool give_up(Pass &pass);
  void check_punched(Pass &pass, uint64_t from);
  uint64_t give_up_limit(Pass &pass);

  Clock clock_;
  Losses losses_;
  GapCauses causes_{losses_};
  uint64_t expected_ = 1;
  uint64_t events_ = 0;
  uint64_t last_ns_ = 0;
  uint64_t damaged_at_ = 0;
  uint64_t next_ns_ = 0;       ///< of an event that was too late for the last read(), 0 = there was none
  uint64_t header_next_ = 1;   ///< the header's next_sequence as read last
  uint64_t checked_next_ = 0;  ///< as read before the last search for written slots
  uint64_t gap_taken_ = 0;     ///< sequences below it were taken at gap_since_ns_ or before
  uint64_t gap_since_ns_ = 0;
  uint64_t chunks_found_ = 0;
  uint64_t finished_chunks_ = 0;
  uint64_t first_pending_ = 0;  ///< as read from a checkpoint: no chunk before it waits to be opened
  uint64_t checked_gone_ = 0;   ///< the header's gone_sequence, up to which nothing that is needed here is gone
  bool started_ = false;
  bool overtaken_ = false;
  std::vector<uint64_t> unready_;         ///< chunks without a header yet
  PendingChunks pending_;                 ///< chunks with a header, not opened, and cursors that wait
  std::priority_queue<Waiting> waiting_;  ///< open cursors at an event
  std::vector<Cursor *> unwritten_;       ///< open cursors at a slot that is not written yet
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<Cursor *> free_;
  std::vector<ThreadState> threads_;
};

}  // namespace gmt::trace
