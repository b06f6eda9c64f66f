#pragma once
// The clock of the events: the processor's counter where it ticks evenly on all cores, else CLOCK_MONOTONIC.
#include <stdint.h>
#include <time.h>

#include "wire/layout.h"
#include "wire/processor.h"

namespace gmt {

inline uint64_t clock_ns(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

/// The clock that BPF counts by, too.
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

inline gmt_clock best_clock() { return has_even_counter() ? GMT_CLOCK_TSC : GMT_CLOCK_MONOTONIC_NS; }

inline uint64_t ticks_of(gmt_clock clock) {
  return clock == GMT_CLOCK_TSC ? read_counter() : clock_ns(CLOCK_MONOTONIC);
}

/// Both clocks at one moment.
struct ClockPair {
  uint64_t ticks, monotonic_ns;
};

/// Of three readings that which took least: a thread may be put off between the two clocks.
inline ClockPair read_clocks(gmt_clock clock) {
  ClockPair best{};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = ticks_of(clock), ns = clock_ns(CLOCK_MONOTONIC), took = ticks_of(clock) - before;
    if (took < least) best = {before + took / 2, ns};
    least = took < least ? took : least;
  }
  return best;
}

}  // namespace gmt
