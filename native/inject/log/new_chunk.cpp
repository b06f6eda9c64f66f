#include "inject/log/new_chunk.h"

#include <errno.h>

#include "inject/log/chunk_supply.h"
#include "inject/log_space.h"
#include "wire/files.h"
#include "wire/loss_names.h"

namespace gmt::inject {
namespace {

/// Where the file could not grow: why, and until when nothing tries again. A try takes as long as many events.
struct NoRoom {
  uint64_t until_ns;
  gmt_loss cause;
} g_no_room;

/// What the recorder allows, where one is there: it rises as old chunks are freed.
uint64_t chunk_limit() {
  const uint64_t limit = __atomic_load_n(&g_log.file->chunk_limit, __ATOMIC_RELAXED);
  return limit ? limit : g_log.budget_chunks;
}

gmt_chunk_header *chunk_number(uint64_t index, gmt_loss *cause) {
  *cause = GMT_LOST_BUDGET;
  if (index >= chunk_limit()) return nullptr;
  const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  const bool pause = begin < __atomic_load_n(&g_no_room.until_ns, __ATOMIC_ACQUIRE);
  *cause = __atomic_load_n(&g_no_room.cause, __ATOMIC_RELAXED);
  if (pause) return nullptr;
  const uint64_t offset = GMT_FILE_HEADER_BYTES + index * GMT_CHUNK_BYTES;
  void *at = open_piece(open_again(log_path()), offset, GMT_CHUNK_BYTES);
  if (at) return static_cast<gmt_chunk_header *>(at);
  *cause = gmt_loss_of(errno);
  __atomic_store_n(&g_no_room.cause, *cause, __ATOMIC_RELAXED);
  // As many times what asking took: events that are lost cost no more than others. A thread that had to wait took no longer.
  constexpr uint64_t kTimes = 16, kMostPauseNs = 2'000'000;
  const uint64_t now = clock_ns(CLOCK_MONOTONIC), pause_ns = kTimes * (now - begin);
  __atomic_store_n(&g_no_room.until_ns, now + (pause_ns < kMostPauseNs ? pause_ns : kMostPauseNs), __ATOMIC_RELEASE);
  return nullptr;
}

/// Backs and maps the next chunk of the file; null: no room, `*cause` has the reason.
gmt_chunk_header *make_chunk(gmt_loss *cause) {
  gmt_file_header *file = g_log.file;
  *cause = GMT_LOST_BUDGET;
  if (__atomic_load_n(&file->chunks_reserved, __ATOMIC_RELAXED) >= chunk_limit()) return nullptr;  // uses no number
  const uint64_t index = __atomic_fetch_add(&file->chunks_reserved, 1, __ATOMIC_RELAXED);
  gmt_chunk_header *chunk = chunk_number(index, cause);
  if (!chunk) {
    uint64_t expected = index + 1;  // give the number back unless another thread came after
    __atomic_compare_exchange_n(&file->chunks_reserved, &expected, index, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return nullptr;
  }
  // Written to once, each page is ready to be written: a first write has the page marked by the processor, on a disk by the kernel.
  for (uint64_t page = 0; page < GMT_CHUNK_BYTES; page += 4096) reinterpret_cast<volatile char *>(chunk)[page] = 0;
  chunk->index = static_cast<uint32_t>(index);
  return chunk;
}

}  // namespace

gmt_chunk_header *make_spare_chunk() {
  gmt_loss cause;
  return make_chunk(&cause);
}

gmt_chunk_header *new_chunk(const Thread &thread) {
  gmt_loss cause;
  gmt_chunk_header *chunk = supply_take();
  if (!chunk) chunk = make_chunk(&cause);
  if (!chunk) {
    if (!thread.describing) count_loss(cause);
    return nullptr;
  }
  chunk->first_sequence = __atomic_load_n(&g_log.file->next_sequence, __ATOMIC_RELAXED);
  const ClockPair now = read_clocks(g_log.clock);  // after all that takes time: the base of what comes next
  chunk->base_ticks = now.ticks;
  chunk->monotonic_ns = now.monotonic_ns;
  renew_clock();
  __atomic_store_n(&chunk->magic, GMT_CHUNK_MAGIC, __ATOMIC_RELEASE);
  return chunk;
}

void new_chunk_forget() { g_no_room = {}; }

}  // namespace gmt::inject
