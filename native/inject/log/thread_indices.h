#pragma once
// Which of the 65,536 indices a thread of the log may have: one that an ended thread gave back, else the next. Lock-free.
#include <stdint.h>

namespace gmt::inject {

constexpr uint32_t kThreadIndices = UINT16_MAX + 1;
inline uint64_t g_free_indices[kThreadIndices / 64];  ///< a bit for each that is free again
inline uint32_t g_free_count;                         ///< of them, at most
inline uint32_t g_next_index;

inline bool take_free_index(uint16_t *index) {
  if (__atomic_load_n(&g_free_count, __ATOMIC_ACQUIRE) == 0) return false;
  for (uint32_t word = 0; word < kThreadIndices / 64; word++) {
    while (const uint64_t bits = __atomic_load_n(&g_free_indices[word], __ATOMIC_RELAXED)) {
      const uint64_t bit = bits & -bits;
      if (!(__atomic_fetch_and(&g_free_indices[word], ~bit, __ATOMIC_ACQUIRE) & bit)) continue;
      __atomic_fetch_sub(&g_free_count, 1, __ATOMIC_RELAXED);
      *index = static_cast<uint16_t>(word * 64 + static_cast<uint32_t>(__builtin_ctzll(bit)));
      return true;
    }
  }
  return false;
}

/// False: as many threads write at once.
inline bool take_thread_index(uint16_t *index) {
  if (take_free_index(index)) return true;
  uint32_t next = __atomic_load_n(&g_next_index, __ATOMIC_RELAXED);
  do {
    if (next == kThreadIndices) return false;
  } while (!__atomic_compare_exchange_n(&g_next_index, &next, next + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  *index = static_cast<uint16_t>(next);
  return true;
}

/// Behind the thread's last event.
inline void give_thread_index(uint16_t index) {
  __atomic_fetch_or(&g_free_indices[index / 64], 1ull << index % 64, __ATOMIC_RELEASE);
  __atomic_fetch_add(&g_free_count, 1, __ATOMIC_RELEASE);
}

/// After a fork: they belong to the parent's log.
inline void thread_indices_forget() {
  for (uint64_t &word : g_free_indices) word = 0;
  g_free_count = g_next_index = 0;
}

}  // namespace gmt::inject
