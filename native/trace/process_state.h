#pragma once
// Whether a process still runs.
#include <cstdint>

namespace gmt::trace {

/// Field 22 of /proc/PID/stat (start, in clock ticks since boot); 0: no such process, or one that has ended and only
/// waits to be reaped.
uint64_t process_start(uint32_t pid);

/// The process `pid` that was started at `start` (as process_start() gives it, 0 = unknown) is there.
inline bool process_runs(uint32_t pid, uint64_t start) {
  uint64_t now = process_start(pid);
  return now != 0 && (start == 0 || now == start);
}

}  // namespace gmt::trace
