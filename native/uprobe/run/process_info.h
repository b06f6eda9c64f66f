#pragma once
// What /proc shows of a process.

#include <cstdint>
#include <optional>
#include <string>

namespace gmt::uprobe {

struct ProcessInfo {
  uint32_t pid = 0, parent_pid = 0;
  uint64_t start = 0;     ///< field 22 of /proc/PID/stat: distinguishes two processes of one pid
  bool zombie = false;    ///< ended, and not yet waited for
  uint32_t uids[4] = {};  ///< real, effective, saved, file system
  std::string name;       ///< of the main thread
  std::string command;    ///< arguments, each ended by NUL
  bool belongs_to(uint32_t uid) const;
};

/// None: there is no such process (or /proc hides it).
std::optional<ProcessInfo> read_process(uint32_t pid);

/// A descriptor for the process itself, whatever its number comes to mean: readable once it has ended. -1: there is none.
int open_pidfd(uint32_t pid);

/// How many GPUs the process has opened, 0 if unknown.
uint32_t opened_gpus(uint32_t pid);

}  // namespace gmt::uprobe
