#include "trace.h"

gmt_sim_hooks gpu_memtrace_simulator_hooks;
SIM_EXPORT int gpu_memtrace_simulator;
int gpu_memtrace_simulator = 1;

namespace sim {

namespace {
uint32_t next_correlation_id = 0;
}  // namespace

CallTrace::CallTrace(uint32_t cbid, const char *name, const void *params) : cbid_(cbid) {
  data_.function_name = name;
  data_.params = params;
  data_.correlation_data = &correlation_data_;
  data_.correlation_id = __atomic_add_fetch(&next_correlation_id, 1, __ATOMIC_RELAXED);
  tell(gmt::cuda::kSiteEnter);
}

void CallTrace::exit(CUresult result) {
  result_ = result;
  data_.return_value = &result_;
  tell(gmt::cuda::kSiteExit);
}

void CallTrace::tell(gmt::cuda::CuptiSite site) {
  Context *context;
  const bool found = current_context(&context) == SUCCESS;
  data_.site = site;
  data_.context = found ? context : nullptr;
  data_.context_uid = found ? context->uid : 0;
  gpu_memtrace_simulator_hooks.call(cbid_, &data_);
}

void raise_resource(uint32_t cbid, Context *context) {
  if (gpu_memtrace_simulator_hooks.resource_enabled[cbid]) gpu_memtrace_simulator_hooks.resource(cbid, context);
}

}  // namespace sim
