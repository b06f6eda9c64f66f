#pragma once
#include "../cuda/calls.h"
#include "hook.h"
#include "state.h"

SIM_EXPORT gmt_sim_hooks gpu_memtrace_simulator_hooks;

namespace sim {

/// Callback ids of the calls in the table of driver calls, then of others that programs and tracers watch
/// (cupti_driver_cbid.h). 0 = a call that raises no callback here.
enum CallbackId : uint32_t {
#define X(name, cbid, kind, args, address, bytes, stream, object, source, since) CBID_##name = cbid,
  GMT_CALLS(X)
#undef X
      CBID_none = 0,
  CBID_cuCtxSynchronize = 17,
  CBID_cuStreamSynchronize = 126,
  CBID_cuCtxCreate_v2 = 235,
  CBID_cuMemGetInfo_v2 = 242,
  CBID_cuLaunchKernel = 307,
  CBID_cuDevicePrimaryCtxRetain = 386,
  CBID_cuLaunchKernel_ptsz = 442,
  CBID_cuGraphLaunch = 514,
  CBID_cuMemSetAccess = 553,
  CBID_cuCtxCreate_v3 = 645,
  CBID_cuCtxCreate_v4 = 757,
};

/// Raises the callbacks of one call, at its enter (constructor) and exit.
class CallTrace {
 public:
  CallTrace(uint32_t cbid, const char *name, const void *params);
  void exit(CUresult result);

 private:
  gmt_sim_call call_;
  uint64_t correlation_data_ = 0;
  int result_ = 0;
};

inline bool usable() { return state.ready && !state.forked; }

/// Runs the body of a driver call as a real driver does: not before cuInit, not in a forked child, with its
/// callbacks, and with the failure that GPU_MEMTRACE_SIM_FAIL asks for.
template <class Body>
CUresult traced(uint32_t cbid, const char *name, const void *params, Body body) {
  if (!gpu_memtrace_simulator_hooks.enabled[cbid]) [[likely]] {
    if (!usable()) return NOT_INITIALIZED;
    CUresult fault = faults_wanted ? wanted_fault(name) : SUCCESS;
    return fault != SUCCESS ? fault : body();
  }
  CallTrace trace(cbid, name, params);
  CUresult fault = faults_wanted ? wanted_fault(name) : SUCCESS;
  CUresult result = !usable() ? NOT_INITIALIZED : fault != SUCCESS ? fault : body();
  trace.exit(result);
  return result;
}

/// A call that raises no callback.
template <class Body>
CUresult checked(const char *name, Body body) {
  return traced(CBID_none, name, nullptr, body);
}

void raise_resource(uint32_t cbid, Context *context);

}  // namespace sim

// The call's arguments as the struct that CUPTI shows: SIM_PARAMS below.
#define SIM_PARAMS_1(a) \
  struct {              \
    decltype(a) p1;     \
  } params {            \
    a                   \
  }
#define SIM_PARAMS_2(a, b) \
  struct {                 \
    decltype(a) p1;        \
    decltype(b) p2;        \
  } params {               \
    a, b                   \
  }
#define SIM_PARAMS_3(a, b, c) \
  struct {                    \
    decltype(a) p1;           \
    decltype(b) p2;           \
    decltype(c) p3;           \
  } params {                  \
    a, b, c                   \
  }
#define SIM_PARAMS_4(a, b, c, d) \
  struct {                       \
    decltype(a) p1;              \
    decltype(b) p2;              \
    decltype(c) p3;              \
    decltype(d) p4;              \
  } params {                     \
    a, b, c, d                   \
  }
#define SIM_PARAMS_5(a, b, c, d, e) \
  struct {                          \
    decltype(a) p1;                 \
    decltype(b) p2;                 \
    decltype(c) p3;                 \
    decltype(d) p4;                 \
    decltype(e) p5;                 \
  } params {                        \
    a, b, c, d, e                   \
  }
#define SIM_PARAMS_6(a, b, c, d, e, f) \
  struct {                             \
    decltype(a) p1;                    \
    decltype(b) p2;                    \
    decltype(c) p3;                    \
    decltype(d) p4;                    \
    decltype(e) p5;                    \
    decltype(f) p6;                    \
  } params {                           \
    a, b, c, d, e, f                   \
  }
#define SIM_COUNT(a, b, c, d, e, f, n, ...) n
#define SIM_JOIN2(a, b) a##b
#define SIM_JOIN(a, b) SIM_JOIN2(a, b)
/// The call's arguments as the struct that CUPTI shows (same order, same types), named `params`.
#define SIM_PARAMS(...) SIM_JOIN(SIM_PARAMS_, SIM_COUNT(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0))(__VA_ARGS__)
