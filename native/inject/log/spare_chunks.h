#pragma once
// Chunks that ended threads left half full: a new thread goes on in one, so that a thousand short threads do not take a
// thousand chunks. Lock-free; 64 places, a chunk that finds none is unmapped (its rest stays unused).
#include <stdint.h>
#include <sys/mman.h>

#include "wire/layout.h"

namespace gmt::inject {

inline constexpr uint32_t kSpareChunks = 64;
inline gmt_chunk_header *g_spare_chunks[kSpareChunks];

/// `next` is kept in header bytes that the format leaves to the writer.
inline void spare_chunks_put(gmt_chunk_header *chunk, uint32_t next) {
  __atomic_store_n(reinterpret_cast<uint32_t *>(chunk->reserved), next, __ATOMIC_RELAXED);
  for (auto &place : g_spare_chunks) {
    gmt_chunk_header *empty = nullptr;
    if (__atomic_compare_exchange_n(&place, &empty, chunk, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
  }
  munmap(chunk, GMT_CHUNK_BYTES);
}

inline gmt_chunk_header *spare_chunks_take(uint32_t *next) {
  for (auto &place : g_spare_chunks) {
    gmt_chunk_header *chunk = __atomic_load_n(&place, __ATOMIC_RELAXED);
    if (!chunk) continue;
    chunk = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQUIRE);
    if (!chunk) continue;
    *next = __atomic_load_n(reinterpret_cast<uint32_t *>(chunk->reserved), __ATOMIC_RELAXED);
    return chunk;
  }
  return nullptr;
}

/// After a fork: the chunks belong to the parent's log.
inline void spare_chunks_forget() {
  for (auto &place : g_spare_chunks) place = nullptr;
}

}  // namespace gmt::inject
