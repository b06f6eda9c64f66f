#pragma once
// How the simulated libcupti hears of the simulated driver's calls: libcuda.so.1 exports one struct, libcupti
// finds it by dlsym and fills it. With nobody subscribed a call costs one byte load.
#include <stdint.h>

#include "cuda/cupti.h"

#define GMT_SIM_HOOKS "gpu_memtrace_simulator_hooks"
#define GMT_SIM_CALLBACKS 1024

struct gmt_sim_hooks {
  uint8_t enabled[GMT_SIM_CALLBACKS];                            ///< by CUPTI driver callback id
  uint8_t resource_enabled[32];                                  ///< by CUPTI resource callback id
  void (*call)(uint32_t cbid, const gmt::cuda::CallbackData *);  ///< set before anything is enabled, never unset
  void (*resource)(uint32_t cbid, void *context);                ///< likewise
  int (*context_device)(void *context);  ///< set by the driver: device ordinal, -1 = no such context
};
