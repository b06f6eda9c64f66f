#pragma once
// Whether a process still runs.
#include <cstdint>
#include <string>

#include "wire/process_start.h"

namespace gmt::trace {

/// The process `pid` that was started at `start` (see gmt_process_start(), 0 = unknown) is there.
inline bool process_runs(uint32_t pid, uint64_t start) {
  const std::string number = std::to_string(pid);  // and its first thread's
  const uint64_t now = gmt_process_start(("/proc/" + number + "/task/" + number + "/stat").c_str());
  return now != 0 && (start == 0 || now == start);
}

/// A thread of it is stopped, by a signal or a debugger, or frozen: it may be amid anything, and continues there.
bool process_held_up(uint32_t pid);

}  // namespace gmt::trace
