#pragma once
// How the simulated libcupti hears of the simulated driver's calls: libcuda.so.1 exports one struct, libcupti
// finds it by dlsym and fills it. With nobody subscribed a call costs one byte load.
#include <stdint.h>

#define GMT_SIM_HOOKS "gpu_memtrace_simulator_hooks"
#define GMT_SIM_CALLBACKS 1024

/// One side (enter or exit) of one driver call.
struct gmt_sim_call {
  uint32_t site;  ///< 0 enter, 1 exit
  uint32_t cbid;
  const char *name;
  const void *params;  ///< laid out as the struct of the same name in generated_cuda_meta.h
  int *result;         ///< CUresult; valid at exit
  void *context;       ///< CUcontext current to the thread, null if none
  uint32_t context_uid;
  uint32_t correlation_id;
  uint64_t *correlation_data;  ///< the same at enter and exit
};

struct gmt_sim_hooks {
  uint8_t enabled[GMT_SIM_CALLBACKS];              ///< by CUPTI driver callback id
  uint8_t resource_enabled[32];                    ///< by CUPTI resource callback id
  void (*call)(const struct gmt_sim_call *);       ///< set before anything is enabled, never unset
  void (*resource)(uint32_t cbid, void *context);  ///< likewise
  int (*context_device)(void *context);            ///< set by the driver: device ordinal, -1 = no such context
};
