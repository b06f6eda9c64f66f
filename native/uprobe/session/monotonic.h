#pragma once
#include <time.h>

#include <cstdint>

namespace gmt::uprobe {

inline uint64_t clock_ns(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

/// The clock that BPF's times count by.
inline uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace gmt::uprobe
