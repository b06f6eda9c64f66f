#pragma once
// Chunks that ended threads left half full: a new thread goes on in one, so that a thousand short threads do not take a
// thousand chunks. Lock-free; 64 places, a chunk that finds none is unmapped (its rest stays unused).
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "wire/layout.h"

namespace gmt::inject {

inline gmt_chunk_header *g_spare_chunks[64];

/// False: there is no empty place.
template <size_t Count>
bool put_chunk(gmt_chunk_header *(&places)[Count], gmt_chunk_header *chunk) {
  for (auto &place : places) {
    gmt_chunk_header *empty = nullptr;
    if (__atomic_compare_exchange_n(&place, &empty, chunk, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

/// Null: there is none.
template <size_t Count>
gmt_chunk_header *pop_chunk(gmt_chunk_header *(&places)[Count]) {
  for (auto &place : places) {
    if (!__atomic_load_n(&place, __ATOMIC_RELAXED)) continue;
    if (gmt_chunk_header *chunk = __atomic_exchange_n(&place, nullptr, __ATOMIC_ACQUIRE)) return chunk;
  }
  return nullptr;
}

/// `next` is kept in header bytes that the format leaves to the writer.
inline void spare_chunks_put(gmt_chunk_header *chunk, uint32_t next) {
  __atomic_store_n(reinterpret_cast<uint32_t *>(chunk->reserved), next, __ATOMIC_RELAXED);
  if (!put_chunk(g_spare_chunks, chunk)) munmap(chunk, GMT_CHUNK_BYTES);
}

inline gmt_chunk_header *spare_chunks_take(uint32_t *next) {
  gmt_chunk_header *chunk = pop_chunk(g_spare_chunks);
  if (chunk) *next = __atomic_load_n(reinterpret_cast<uint32_t *>(chunk->reserved), __ATOMIC_RELAXED);
  return chunk;
}

/// After a fork: the chunks belong to the parent's log.
inline void spare_chunks_forget() {
  for (auto &place : g_spare_chunks) place = nullptr;
}

}  // namespace gmt::inject
