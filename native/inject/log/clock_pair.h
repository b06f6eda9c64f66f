#pragma once
// The header's pair of the two clocks, which a reader takes without a lock: its second word is 0 while it changes.
#include "wire/clock.h"
#include "wire/layout.h"
#include "wire/taken.h"

namespace gmt::inject {

/// Stores what `read` gives, a ClockPair; leaves that to another thread where one is just doing it.
template <class Read>
void store_clock_pair(gmt_file_header *file, uint32_t *storing, Read read) {
  if (!gmt_take(storing)) return;
  const ClockPair now = read();
  __atomic_store_n(&file->latest_monotonic_ns, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&file->latest_ticks, now.ticks, __ATOMIC_RELEASE);
  __atomic_store_n(&file->latest_monotonic_ns, now.monotonic_ns, __ATOMIC_RELEASE);
  gmt_give(storing);
}

}  // namespace gmt::inject
