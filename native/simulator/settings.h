#pragma once
#include <cstdint>

#include "simulator/driver/driver_types.h"

namespace sim {

/// What the environment asks of the simulator; read once, at cuInit. A value that makes no sense is told on
/// stderr in one line and replaced by the default.
struct Settings {
  int devices = 1;        ///< GPU_MEMTRACE_SIM_DEVICES, 0 to 64
  uint64_t memory_bytes;  ///< GPU_MEMTRACE_SIM_MEMORY, of each device
  const char *name;       ///< GPU_MEMTRACE_SIM_NAME
  uint64_t oom_at = 0;    ///< GPU_MEMTRACE_SIM_OOM_AT: this allocation call of the process fails, 1 = first
};

void read_settings(Settings &settings);

extern bool faults_wanted;  ///< GPU_MEMTRACE_SIM_FAIL is set

/// GPU_MEMTRACE_SIM_FAIL=name:N[:result][,...]: the N-th call of `name` does nothing and returns `result`
/// (default 2 for calls that allocate, else 1). SUCCESS = this call is not to fail.
CUresult wanted_fault(const char *name);

}  // namespace sim
