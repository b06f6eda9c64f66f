#pragma once
// The clock of the events: the time-stamp counter where it ticks evenly on all cores, else CLOCK_MONOTONIC.
#include <cpuid.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "wire/layout.h"

namespace gmt {

inline uint64_t clock_ns(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

/// The clock that BPF counts by, too.
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

/// GMT_CLOCK_TSC where the processor says that the counter is invariant (CPUID 0x80000007, EDX bit 8).
inline gmt_clock best_clock() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
  return invariant ? GMT_CLOCK_TSC : GMT_CLOCK_MONOTONIC_NS;
}

inline uint64_t ticks_of(gmt_clock clock) { return clock == GMT_CLOCK_TSC ? __rdtsc() : clock_ns(CLOCK_MONOTONIC); }

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
