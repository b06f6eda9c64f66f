#pragma once
// A word that one thread at a time has taken. It holds the number of the process, so that what a thread of the parent had taken when
// it forked is free in the child, where that thread is not.
#include <stdint.h>
#include <unistd.h>

inline bool gmt_take(uint32_t *word) {
  const uint32_t own = (uint32_t)getpid();
  uint32_t holder = __atomic_load_n(word, __ATOMIC_RELAXED);
  return holder != own && __atomic_compare_exchange_n(word, &holder, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
inline void gmt_give(uint32_t *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }
inline bool gmt_is_taken(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == (uint32_t)getpid(); }
