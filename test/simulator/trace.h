#pragma once
#include "cuda/calls.h"
#include "hook.h"
#include "simulator_state.h"

SIM_EXPORT gmt_sim_hooks gpu_memtrace_simulator_hooks;

namespace sim {

/// Callback ids of the calls in the table of driver calls, then of others that programs and tracers watch
/// (cupti_driver_cbid.h).
enum CallbackId : uint32_t {
#define X(name, cbid, kind, args, address, bytes, stream, object, source, since) CBID_##name = cbid,
  GMT_CALLS(X)
#undef X
      CBID_cuCtxCreate_v2 = 235,
  CBID_cuMemGetInfo_v2 = 242,
  CBID_cuDevicePrimaryCtxRetain = 386,
};

/// Raises the callbacks of one call, at its enter (constructor) and exit.
class CallTrace {
 public:
  CallTrace(uint32_t cbid, const char *name, const void *params);
  void exit(CUresult result);

 private:
  void tell(gmt::cuda::CuptiSite site);
  uint32_t cbid_;
  gmt::cuda::CallbackData data_ = {};
  uint64_t correlation_data_ = 0;
  int result_ = 0;
};

inline bool usable() { return state.ready && !state.forked; }

/// The call's arguments as the struct that CUPTI shows: same order, same types. What is left over lies behind them.
template <class A = char, class B = char, class C = char, class D = char, class E = char, class F = char>
struct Params {
  A a{};
  B b{};
  C c{};
  D d{};
  E e{};
  F f{};
};
template <class... Arguments>
Params(Arguments...) -> Params<Arguments...>;

/// Runs the body of a driver call as a real driver does: not before cuInit, not in a forked child, with its callbacks.
template <class Arguments, class Body>
CUresult traced(uint32_t cbid, const char *name, const Arguments &params, Body body) {
  if (!gpu_memtrace_simulator_hooks.enabled[cbid]) [[likely]] {
    return usable() ? body() : NOT_INITIALIZED;
  }
  CallTrace trace(cbid, name, &params);
  CUresult result = usable() ? body() : NOT_INITIALIZED;
  trace.exit(result);
  return result;
}

/// A call that raises no callback.
template <class Body>
CUresult checked(Body body) {
  return usable() ? body() : NOT_INITIALIZED;
}

/// The same with the lock held.
template <class Body>
CUresult locked(Body body) {
  return checked([&] {
    Lock lock;
    return body();
  });
}

void raise_resource(uint32_t cbid, Context *context);

}  // namespace sim

/// Defines a driver call, of which only the body follows; `run`: `checked` or `locked`.
#define SIM_DEFINE(run, name, parameters, ...)            \
  static CUresult name##_body parameters;                 \
  SIM_EXPORT CUresult name parameters {                   \
    return run([&] { return name##_body(__VA_ARGS__); }); \
  }                                                       \
  static CUresult name##_body parameters
/// One with callbacks.
#define SIM_TRACED(name, parameters, ...)                                                             \
  static CUresult name##_body parameters;                                                             \
  SIM_EXPORT CUresult name parameters {                                                               \
    return traced(CBID_##name, #name, Params{__VA_ARGS__}, [&] { return name##_body(__VA_ARGS__); }); \
  }                                                                                                   \
  static CUresult name##_body parameters
