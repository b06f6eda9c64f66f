#include "trace.h"

gmt_sim_hooks gpu_memtrace_simulator_hooks;
SIM_EXPORT int gpu_memtrace_simulator;
int gpu_memtrace_simulator = 1;

namespace sim {

namespace {
uint32_t next_correlation_id = 0;

void show_context(gmt_sim_call &call) {
  Context *context;
  CUresult found = current_context(&context);
  call.context = found == SUCCESS ? context : nullptr;
  call.context_uid = found == SUCCESS ? context->uid : 0;
}
}  // namespace

CallTrace::CallTrace(uint32_t cbid, const char *name, const void *params) {
  call_ = {.site = 0,
           .cbid = cbid,
           .name = name,
           .params = params,
           .result = &result_,
           .context = nullptr,
           .context_uid = 0,
           .correlation_id = __atomic_add_fetch(&next_correlation_id, 1, __ATOMIC_RELAXED),
           .correlation_data = &correlation_data_};
  show_context(call_);
  gpu_memtrace_simulator_hooks.call(&call_);
}

void CallTrace::exit(CUresult result) {
  result_ = result;
  call_.site = 1;
  show_context(call_);
  gpu_memtrace_simulator_hooks.call(&call_);
}

void raise_resource(uint32_t cbid, Context *context) {
  if (gpu_memtrace_simulator_hooks.resource_enabled[cbid]) gpu_memtrace_simulator_hooks.resource(cbid, context);
}

}  // namespace sim
