#include "trace/log/merge.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>

#include "trace/log/record_payloads.h"
#include "trace/process_runs.h"

namespace gmt::trace {

struct Merge::Pass {
  LogFile &log;
  ProcessTables &tables;
  BatchBuilder &batch;
  bool sealed;
  uint64_t now_ns;
  uint64_t until_ns;
  uint64_t end_sequence = ~0ull;  ///< of the first steps, behind which events are gone,
  uint64_t chunks = ~0ull;        ///< and the chunks that they are in
};

namespace {
constexpr uint64_t kSequenceEnd = 1ull << 47;
constexpr uint64_t kAnyNumber = 1ull << 62;              // of events that a cut log may miss
constexpr uint8_t kLastKindWithState = GMT_GRAPH_ALLOC;  // tensor events and allocations of the driver
}  // namespace

bool Merge::read(LogFile &log, ProcessTables &tables, BatchBuilder &batch, bool sealed, uint64_t now_ns,
                 uint64_t until_ns) {
  Pass pass{log, tables, batch, sealed, now_ns, until_ns};
  next_ns_ = 0;
  if (!started_ && log.cut()) causes_.damaged(kLostCutShort, kAnyNumber);
  started_ = true;
  const uint64_t from = expected_, retained = log.header_word(&gmt_file_header::kept_sequence);
  if (log.header_word(&gmt_file_header::gone_sequence) > retained && from <= retained) {
    pass.end_sequence = retained;
    pass.chunks = log.header_word(&gmt_file_header::kept_chunks);
  }
  retry_unwritten(pass);
  bool more = read_events(pass);
  // An autograd node is written before any event that names it, but perhaps by another thread: its chunks are read once more, so
  // that no batch goes out before its nodes.
  if (!sealed) refresh_log(pass);
  open_chunks(pass, expected_);
  check_punched(pass, from);
  if (overtaken_) batch.clear();
  return more && !overtaken_;
}

// Freed chunks read as zeros. What was read is good if the header, read afterwards, confirms it.
void Merge::check_punched(Pass &pass, uint64_t from) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const uint64_t cleared = pass.log.header_word(&gmt_file_header::cleared_sequence);
  const uint64_t gone = pass.log.header_word(&gmt_file_header::gone_sequence);
  if (gone == checked_gone_) return;
  if (expected_ == pass.end_sequence) {
    const uint64_t kept_ns = pass.log.header_word(&gmt_file_header::kept_ns);
    overtaken_ = pass.until_ns > kept_ns;
    next_ns_ = kept_ns + 1;
    return;
  }
  if (pass.log.saved()) return;  // nothing changes any more
  if (expected_ < gone) {
    overtaken_ = expected_ > pass.log.header_word(&gmt_file_header::kept_sequence);
    return;
  }
  const auto is_gone = [&](uint64_t chunk) { return pass.log.chunk_header(chunk).magic == 0; };
  overtaken_ = from < gone || std::ranges::any_of(read_position().unfinished, [&](uint64_t chunk) {
                 return std::ranges::find(unready_, chunk) == unready_.end() && is_gone(chunk);
               });
  if (cleared == gone) checked_gone_ = gone;
}

bool Merge::read_events(Pass &pass) {
  for (;;) {
    if (expected_ >= pass.end_sequence) return false;
    uint64_t before = expected_;
    if (consume(pass)) return true;
    refresh_log(pass);
    if (consume(pass)) return true;
    if (expected_ == before && !give_up(pass)) return false;
  }
}

// Reads what follows expected_ without a gap. True: the batch is full, or what comes is later than requested.
bool Merge::consume(Pass &pass) {
  while (!pass.batch.full()) {
    open_chunks(pass, expected_);
    if (waiting_.empty() || waiting_.top().sequence > expected_) return false;
    Waiting top = waiting_.top();
    if (top.sequence == expected_ && is_later(pass, *top.cursor)) return true;
    waiting_.pop();
    // Below expected_: a sequence that is there twice; find_event() passes over it.
    Next next = top.sequence == expected_ ? run(pass, *top.cursor) : find_event(pass, *top.cursor);
    enqueue(pass, *top.cursor, next);
  }
  return true;
}

// The fast path: one cursor, for as long as its events are the next ones. It stands at the event of expected_. Side records
// of another thread about the events so far are applied before the events behind them: its chunk is opened in time.
Merge::Next Merge::run(Pass &pass, Cursor &cursor) {
  const uint64_t next_chunk = pending_.empty() ? ~0ull : pending_.top().first_sequence;
  do {
    emit(pass, cursor);
    const bool follows = cursor.at < cursor.end && cursor.commit() >> 16 == expected_;
    if (follows && expected_ < header_next_ && expected_ < pass.end_sequence) continue;
    Next next = find_event(pass, cursor);
    if (next != Next::kEvent || cursor.commit() >> 16 != expected_) return next;
  } while (!pass.batch.full() && expected_ < next_chunk && !is_later(pass, cursor));
  return find_event(pass, cursor);
}

// Threads take their time and their sequence one after the other; in the trace time never runs back.
uint64_t Merge::time_of(const Cursor &cursor) const {
  const auto ns = static_cast<uint64_t>(static_cast<double>(cursor.event().time) * clock_.ns_per_tick());
  return std::max(last_ns_, cursor.base_ns + ns);
}

bool Merge::is_later(Pass &pass, const Cursor &cursor) {
  if (expected_ >= pass.end_sequence) return true;
  if (pass.until_ns == ~0ull) return false;
  const uint64_t ns = time_of(cursor);
  if (ns > pass.until_ns) next_ns_ = ns;
  return ns > pass.until_ns;
}

void Merge::emit(Pass &pass, Cursor &cursor) {
  const gmt_event &event = cursor.event();
  Event &out = pass.batch.add();
  last_ns_ = time_of(cursor);
  out.sequence = expected_;
  out.time_ns = last_ns_;
  out.address = event.address;
  out.bytes = gmt_size_bytes(event.size >> 16);
  out.stack = event.stack;
  ThreadState &own = thread(static_cast<uint16_t>(event.commit));
  out.thread = own.number;
  out.device = static_cast<uint8_t>(event.size >> 8);
  out.kind = static_cast<uint8_t>(event.size);
  out.detail = cursor.has_detail ? pass.batch.add_detail(cursor.detail) : uint16_t{0};
  bool carries = (out.kind & ~GMT_FAILED) <= kLastKindWithState;
  out.autograd = carries ? autograd_index(pass.batch, own) : uint16_t{0};
  cursor.has_detail = false;
  cursor.last_sequence = expected_;
  ++cursor.at;
  ++expected_;
  ++events_;
}

Merge::ThreadState &Merge::thread(uint16_t index) {
  while (index >= threads_.size()) threads_.push_back({static_cast<uint32_t>(threads_.size())});
  return threads_[index];
}

uint16_t Merge::autograd_index(BatchBuilder &batch, ThreadState &state) {
  if (state.autograd.role == GMT_AUTOGRAD_NONE) return 0;
  if (state.generation != batch.generation()) {
    state.autograd_index = batch.add_autograd(state.autograd);
    state.generation = batch.generation();
  }
  return state.autograd_index;
}

// Passes over side records and what is damaged, up to the next event.
Merge::Next Merge::find_event(Pass &pass, Cursor &cursor) {
  while (cursor.at < cursor.end) {
    uint64_t commit = cursor.commit();
    if (commit == 0) return Next::kUnwritten;
    if (commit & GMT_SIDE_RECORD_BIT) {
      const Next next = side_record(pass, cursor);
      if (next != Next::kEvent) return next;
      continue;
    }
    uint64_t sequence = commit >> 16;
    bool good = accepts(pass, cursor, sequence);
    if (good && sequence >= expected_) return Next::kEvent;
    // Below expected_: given up before it came, and counted then.
    if (good) cursor.last_sequence = sequence;
    if (!good) damaged(cursor.chunk, cursor.at, 1);
    cursor.has_detail = false;
    ++cursor.at;
  }
  return Next::kEnd;
}

bool Merge::accepts(Pass &pass, const Cursor &cursor, uint64_t sequence) {
  if (sequence >= header_next_) refresh_next(pass);
  return sequence < header_next_ && sequence >= cursor.first_sequence && sequence > cursor.last_sequence;
}

Merge::Next Merge::side_record(Pass &pass, Cursor &cursor) {
  gmt_side_record record;
  std::memcpy(&record, cursor.slot(), sizeof record);
  uint32_t left = cursor.end - cursor.at;
  if (record.kind == GMT_END_OF_CHUNK) return Next::kEnd;
  bool known = record_row(record.kind).consumer != Consumer::None;
  if (!known || record.slots == 0 || record.slots > left || record.bytes > record.slots * GMT_SLOT_BYTES - 16) {
    // Where a record ends is unknown now, so nothing behind it in this chunk can be read.
    damaged(cursor.chunk, cursor.at, left);
    return Next::kEnd;
  }
  const std::span payload(cursor.slot() + offsetof(gmt_side_record, payload), record.bytes);
  const auto thread = static_cast<uint16_t>(record.commit);
  if (record.kind == GMT_WRITER) {
    const Next next = change_writer(pass, cursor, thread, payload);
    if (next != Next::kEvent) return next;
  }
  const bool good = apply_side_record(pass, cursor, record.kind, thread, payload);
  if (!good) damaged(cursor.chunk, cursor.at, 0);
  cursor.at += record.slots;
  return Next::kEvent;
}

// Whose index the thread's was before may have written behind what was read so far: it is waited for.
Merge::Next Merge::change_writer(Pass &pass, Cursor &cursor, uint16_t index, std::span<const std::byte> payload) {
  gmt_writer record;
  if (!read_record(payload, &record)) return Next::kEvent;
  if (record.first_sequence > header_next_) refresh_next(pass);
  // Each such record takes a slot, which bounds how many threads there can be.
  const uint64_t most = pass.log.chunk_count() * GMT_SLOTS_PER_CHUNK + UINT16_MAX;
  if (record.first_sequence > header_next_ || record.number > most) return Next::kEnd;
  if (record.first_sequence > std::max(expected_, cursor.first_sequence)) {
    cursor.first_sequence = record.first_sequence;
    return Next::kLater;
  }
  if (thread(index).number != record.number) thread(index) = {record.number};
  return Next::kEvent;
}

// False: it is damaged.
bool Merge::apply_side_record(Pass &pass, Cursor &cursor, uint8_t kind, uint16_t index,
                              std::span<const std::byte> payload) {
  const uint64_t read = expected_ - 1;
  const auto add = [&](auto record) {
    if (record) pass.batch.add(std::move(*record));
    return record.has_value();
  };
  switch (kind) {
    case GMT_TIME_BASE:
      return with<gmt_time_base>(payload, [&](const auto &base) { set_base(cursor, base.ticks, base.monotonic_ns); });
    case GMT_DRIVER_DETAIL:
      if (!read_record(payload, &cursor.detail)) return false;
      return cursor.has_detail = true;
    case GMT_AUTOGRAD:
      return with<gmt_autograd>(payload, [&](const auto &autograd) {
        ThreadState &own = thread(index);
        own = {own.number, autograd};
      });
    case GMT_NODE:
      return with<gmt_node>(payload, [&](const auto &node) { pass.batch.add_node(node, thread(index).number); });
    case GMT_THREAD:
      return with<gmt_thread_record>(
          payload, [&](const auto &about) { return pass.tables.add_thread(payload, thread(about.index).number); });
    case GMT_NAME:
      return add(name_of(payload, read));
    case GMT_MEMORY:
      return add(memory_of(payload, read, clock_));
    case GMT_ANSWER:
      return add(answer_part_of(payload, read));
    case GMT_ALLOCATOR:
      return add(allocator_of(payload, read));
    case GMT_RANGE:
      return add(range_of(payload, thread(index).number, clock_));
    default:
      return record_row(kind).consumer == Consumer::Model ? add(model_record_of(kind, payload, read))
                                                          : pass.tables.add(kind, payload);
  }
}

void Merge::set_base(Cursor &cursor, uint64_t ticks, uint64_t monotonic_ns) {
  if (clock_.session_ns(ticks, monotonic_ns, &cursor.base_ns)) return;
  cursor.base_ns = last_ns_;
  damaged(cursor.chunk, cursor.at, 0);
}

void Merge::damaged(uint64_t chunk, uint64_t slot, uint64_t events) {
  const uint64_t at = GMT_FILE_HEADER_BYTES + chunk * GMT_CHUNK_BYTES + GMT_CHUNK_HEADER_BYTES + slot * GMT_SLOT_BYTES;
  damaged_at_ = damaged_at_ == 0 ? at : std::min(damaged_at_, at);
  causes_.damaged(kLostCorrupt, events);
}

void Merge::refresh_next(Pass &pass) { header_next_ = std::min(pass.log.next_sequence(), kSequenceEnd); }

// Looks for what was written since: chunks, and slots in chunks that were read to their end.
void Merge::refresh_log(Pass &pass) {
  checked_next_ = std::min(pass.log.next_sequence(), kSequenceEnd);  // of these, all that is written is found below
  pass.log.refresh();
  if (!pass.sealed && !pass.log.saved())
    clock_.add_now();  // the process renews its own pair late where it writes little
  else if (const gmt_file_header header = pass.log.header(); header.latest_ticks != 0)
    clock_.add_pair(header.latest_ticks, header.latest_monotonic_ns);
  refresh_next(pass);
  std::erase_if(unready_, [&](uint64_t chunk) { return find_chunk(pass, chunk); });
  for (const uint64_t end = std::min(pass.log.chunk_count(), pass.chunks); chunks_found_ < end; ++chunks_found_) {
    if (!find_chunk(pass, chunks_found_)) unready_.push_back(chunks_found_);
  }
  retry_unwritten(pass);
}

void Merge::retry_unwritten(Pass &pass) {
  const std::vector<Cursor *> unwritten = std::exchange(unwritten_, {});
  for (Cursor *cursor : unwritten) enqueue(pass, *cursor, find_event(pass, *cursor));
}

// False: its header is not written yet.
bool Merge::find_chunk(Pass &pass, uint64_t chunk) {
  const gmt_chunk_header header = pass.log.chunk_header(chunk);
  if (header.magic == 0) return false;
  if (header.first_sequence > header_next_) refresh_next(pass);
  if (header.magic != GMT_CHUNK_MAGIC || header.first_sequence == 0 || header.first_sequence > header_next_) {
    damaged(chunk, 0, pass.log.chunk_slots(chunk));
    return true;
  }
  // The header's own pair is the one to trust; chunks serve where the process ended before it wrote that.
  if (!clock_.calibrated()) clock_.add_pair(header.base_ticks, header.monotonic_ns);
  pending_.push({header.first_sequence, chunk, nullptr});
  return true;
}

void Merge::open_chunks(Pass &pass, uint64_t up_to_sequence) {
  while (!pending_.empty() && pending_.top().first_sequence <= up_to_sequence) {
    Pending next = pending_.top();
    pending_.pop();
    if (next.cursor) {
      enqueue(pass, *next.cursor, find_event(pass, *next.cursor));
      continue;
    }
    if (free_.empty()) {
      cursors_.push_back(std::make_unique<Cursor>());
      free_.push_back(cursors_.back().get());
    }
    Cursor &cursor = *free_.back();
    free_.pop_back();
    ChunkView view = pass.log.chunk(next.chunk);
    cursor = Cursor{};
    cursor.slots = view.slots_begin;
    cursor.chunk = next.chunk;
    cursor.end = view.slots;
    cursor.first_sequence = next.first_sequence;
    const gmt_chunk_header header = pass.log.chunk_header(next.chunk);
    set_base(cursor, header.base_ticks, header.monotonic_ns);
    if (!view.slots_begin) damaged(next.chunk, 0, pass.log.chunk_slots(next.chunk));
    enqueue(pass, cursor, find_event(pass, cursor));
  }
}

void Merge::enqueue(Pass &pass, Cursor &cursor, Next next) {
  switch (next) {
    case Next::kEvent:
      waiting_.push({cursor.commit() >> 16, &cursor});
      break;
    case Next::kUnwritten:
      unwritten_.push_back(&cursor);
      break;
    case Next::kLater:
      pending_.push({cursor.first_sequence, cursor.chunk, &cursor});
      break;
    case Next::kEnd:
      ++finished_chunks_;
      pass.log.release_chunk(cursor.chunk);
      free_.push_back(&cursor);
      break;
  }
}

// Sequences below the answer may be given up now.
uint64_t Merge::give_up_limit(Pass &pass) {
  if (pass.sealed) return checked_next_;
  if (expected_ >= gap_taken_) {
    gap_taken_ = checked_next_;
    gap_since_ns_ = pass.now_ns;
  }
  const auto late = [&] { return pass.now_ns - gap_since_ns_ >= kMaxWaitNs; };
  if (late() && process_held_up(pass.log.header().pid)) gap_since_ns_ = pass.now_ns;
  const uint64_t by_time = late() ? gap_taken_ : 0;
  uint64_t by_count = checked_next_ > kMaxWaitingEvents ? checked_next_ - kMaxWaitingEvents : 0;
  return std::max(by_time, by_count);
}

// Counts the gap at expected_ as lost where nothing will come any more. False: there is none, or it is waited for.
bool Merge::give_up(Pass &pass) {
  if (expected_ >= checked_next_) return false;
  uint64_t limit = std::min(give_up_limit(pass), pass.end_sequence);
  if (expected_ >= limit) return false;
  while (!pending_.empty() &&
         (waiting_.empty() || pending_.top().first_sequence <= std::min(limit, waiting_.top().sequence))) {
    open_chunks(pass, pending_.top().first_sequence);
  }
  uint64_t to = waiting_.empty() ? limit : std::min(limit, waiting_.top().sequence);
  if (to > expected_) {
    causes_.gap(to - expected_);
    expected_ = to;
  }
  return true;
}

}  // namespace gmt::trace
