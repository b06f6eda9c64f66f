#pragma once
#include <cstdint>

namespace sim {

/// What the environment asks of the simulator; read once, at cuInit. A value that makes no sense is told on
/// stderr in one line and replaced by the default.
struct Settings {
  int devices = 1;        ///< GPU_MEMTRACE_SIM_DEVICES, 0 to 64
  uint64_t memory_bytes;  ///< GPU_MEMTRACE_SIM_MEMORY, of each device
  const char *name;       ///< GPU_MEMTRACE_SIM_NAME
};

void read_settings(Settings &settings);

}  // namespace sim
