#pragma once
#include <time.h>

#include <cstdint>

namespace gmt::uprobe {

/// The clock that BPF's times count by.
inline uint64_t monotonic_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace gmt::uprobe
