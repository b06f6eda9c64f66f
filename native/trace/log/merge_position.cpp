// Where reading a log stands, for checkpoints and for freeing its chunks.
#include <algorithm>
#include <functional>

#include "trace/log/merge.h"

namespace gmt::trace {

Merge::ReadPosition Merge::read_position() const {
  ReadPosition position{chunks_found_, chunks_found_, expected_, unready_};
  for (const Pending &one : pending_.all()) {
    if (!one.cursor) position.unfinished.push_back(one.chunk);
  }
  std::ranges::sort(position.unfinished);
  for (size_t at = position.unfinished.size(); at > 0 && position.unfinished[at - 1] == position.begun - 1; --at)
    --position.begun;
  for (const auto &cursor : cursors_) {
    if (std::ranges::find(free_, cursor.get()) == free_.end()) position.unfinished.push_back(cursor->chunk);
  }
  std::ranges::sort(position.unfinished);
  return position;
}

void Merge::checkpoint(Archive &a) {
  std::vector<Cursor> open;
  for (const auto &cursor : cursors_) {
    if (std::ranges::find(free_, cursor.get()) == free_.end()) open.push_back(*cursor);
  }
  first_pending_ = chunks_found_;
  for (const Pending &one : pending_.all()) {
    if (!one.cursor) first_pending_ = std::min(first_pending_, one.chunk);
  }
  for (uint64_t &count : losses_.count) a(count);
  a(clock_, causes_, expected_, events_, last_ns_, next_ns_, damaged_at_, header_next_, chunks_found_, finished_chunks_,
    first_pending_, started_, unready_, threads_, open);
  a.hold(threads_.size() <= UINT16_MAX + 1u && first_pending_ <= chunks_found_);
  for (const Cursor &cursor : open) a.hold(cursor.chunk < chunks_found_);
  if (!a.reads() || !a.good()) return;
  for (const Cursor &cursor : open) {
    cursors_.push_back(std::make_unique<Cursor>(cursor));
    unwritten_.push_back(cursors_.back().get());
  }
}

void Merge::renumber(std::span<const uint64_t> chunks) {
  const auto number = [&](uint64_t chunk) {
    return static_cast<uint64_t>(std::ranges::lower_bound(chunks, chunk) - chunks.begin());
  };
  const auto is_there = [&](uint64_t chunk) { return std::ranges::binary_search(chunks, chunk); };
  std::erase_if(unready_, std::not_fn(is_there));
  for (uint64_t &chunk : unready_) chunk = number(chunk);
  for (const auto &cursor : cursors_) {
    if (!is_there(cursor->chunk)) free_.push_back(cursor.get());
    cursor->chunk = number(cursor->chunk);
  }
  PendingChunks pending;
  for (Pending one : pending_.all()) {
    if (!is_there(one.chunk)) continue;
    one.chunk = number(one.chunk);
    pending.push(one);
  }
  pending_ = std::move(pending);
  chunks_found_ = number(chunks_found_);
}

// Chunks that begin behind what was read are still to come; of the others, all that is not done is open.
void Merge::resume(Archive &a, LogFile &log) {
  a.hold(chunks_found_ <= log.chunk_count());
  for (uint64_t chunk = first_pending_; chunk < chunks_found_ && a.good(); ++chunk) {
    const gmt_chunk_header header = log.chunk_header(chunk);
    if (header.magic == GMT_CHUNK_MAGIC && header.first_sequence > expected_)
      pending_.push({header.first_sequence, chunk, nullptr});
  }
  // What it was reading may be freed by now: then it is at the end of what can be read, and perhaps of what is needed.
  const bool gone = log.header_word(&gmt_file_header::gone_sequence) > expected_;
  std::erase_if(unwritten_, [&](Cursor *cursor) {
    const bool is_gone = gone && log.chunk_header(cursor->chunk).magic == 0;
    if (is_gone) free_.push_back(cursor);
    return is_gone;
  });
  for (Cursor *cursor : unwritten_) {
    const ChunkView view = log.chunk(cursor->chunk);
    a.hold(view.slots_begin && cursor->at <= view.slots);
    cursor->slots = view.slots_begin;
    cursor->end = view.slots;
  }
}

}  // namespace gmt::trace
