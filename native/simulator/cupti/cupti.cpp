// The simulated libcupti.so.13: CUPTI's callback interface over the simulated driver. Layouts and codes are those
// of cupti_callbacks.h and cupti_result.h (CUDA 13.0), compared in cupti_check.cpp.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "cupti_types.h"
#include "simulator/driver/driver_types.h"
#include "simulator/hook.h"

using namespace sim;

SIM_EXPORT int gpu_memtrace_simulator;
int gpu_memtrace_simulator = 1;

namespace {

constexpr uint32_t VERSION = 130001;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
gmt_sim_hooks *hooks = nullptr;      ///< of the simulated driver, once found
CuptiSubscriber *current = nullptr;  ///< atomic; ended ones are never freed, a callback may still use them
char holder[64] = "";                ///< name of the current subscriber

class Guard {
 public:
  Guard() { pthread_mutex_lock(&lock); }
  ~Guard() { pthread_mutex_unlock(&lock); }
};

void call_subscriber(uint32_t domain, uint32_t cbid, const void *data) {
  CuptiSubscriber *subscriber = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
  if (subscriber) subscriber->callback(subscriber->userdata, domain, cbid, data);
}

void on_call(const gmt_sim_call *call) {
  CuptiCallbackData data = {};
  data.site = call->site;
  data.function_name = call->name;
  data.params = call->params;
  data.result = call->site == 0 ? nullptr : call->result;
  data.context = call->context;
  data.context_uid = call->context_uid;
  data.correlation_data = call->correlation_data;
  data.correlation_id = call->correlation_id;
  call_subscriber(CUPTI_DOMAIN_DRIVER, call->cbid, &data);
}

void on_resource(uint32_t cbid, void *context) {
  CuptiResourceData data = {context, nullptr, nullptr};
  call_subscriber(CUPTI_DOMAIN_RESOURCE, cbid, &data);
}

/// Finds the driver's hooks; false with a driver that is not simulated. The lock is held.
bool connect() {
  if (hooks) return true;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  hooks = driver ? static_cast<gmt_sim_hooks *>(dlsym(driver, GMT_SIM_HOOKS)) : nullptr;
  if (!hooks) return false;
  hooks->call = on_call;
  hooks->resource = on_resource;
  return true;
}

/// The switch of one callback, null if there is no such domain or id. The lock is held.
uint8_t *find_switch(uint32_t domain, uint32_t cbid) {
  if (domain == CUPTI_DOMAIN_DRIVER && cbid > 0 && cbid < CUPTI_DRIVER_CALLBACKS) return &hooks->enabled[cbid];
  if (domain == CUPTI_DOMAIN_RESOURCE && cbid > 0 && cbid < CUPTI_RESOURCE_CALLBACKS) {
    return &hooks->resource_enabled[cbid];
  }
  return nullptr;
}

void set_domain(uint32_t domain, uint8_t enable) {
  uint32_t count = domain == CUPTI_DOMAIN_DRIVER ? CUPTI_DRIVER_CALLBACKS : CUPTI_RESOURCE_CALLBACKS;
  for (uint32_t cbid = 1; cbid < count; ++cbid) {
    if (uint8_t *enabled = find_switch(domain, cbid)) *enabled = enable;
  }
}

void end_subscription() {
  set_domain(CUPTI_DOMAIN_DRIVER, 0);
  set_domain(CUPTI_DOMAIN_RESOURCE, 0);
  __atomic_store_n(&current, static_cast<CuptiSubscriber *>(nullptr), __ATOMIC_RELEASE);
}

CuptiResult subscribe(CuptiSubscriber **subscriber, CuptiCallback callback, void *userdata, const char *name) {
  if (!subscriber || !callback) return CUPTI_INVALID_PARAMETER;
  if (!connect()) return CUPTI_NOT_INITIALIZED;
  if (current) return CUPTI_MULTIPLE_SUBSCRIBERS;
  CuptiSubscriber *created = static_cast<CuptiSubscriber *>(calloc(1, sizeof(CuptiSubscriber)));
  if (!created) return CUPTI_OUT_OF_MEMORY;
  *created = {callback, userdata};
  strcpy(holder, name ? "CUPTI for " : "CUPTI");
  if (name) strncat(holder, name, 53);
  __atomic_store_n(&current, created, __ATOMIC_RELEASE);
  *subscriber = created;
  return CUPTI_OK;
}

bool is_current(const CuptiSubscriber *subscriber) { return subscriber && subscriber == current; }

}  // namespace

SIM_EXPORT CuptiResult cuptiSubscribe(CuptiSubscriber **subscriber, CuptiCallback callback, void *userdata) {
  Guard guard;
  return subscribe(subscriber, callback, userdata, nullptr);
}

SIM_EXPORT CuptiResult cuptiSubscribe_v2(CuptiSubscriber **subscriber, CuptiCallback callback, void *userdata,
                                         CuptiSubscriberParams *params) {
  Guard guard;
  if (params && params->struct_size < sizeof(CuptiSubscriberParams)) return CUPTI_INVALID_PARAMETER;
  CuptiResult result = subscribe(subscriber, callback, userdata, params ? params->name : nullptr);
  if (result == CUPTI_MULTIPLE_SUBSCRIBERS && params && params->old_name && params->old_name_size) {
    strncpy(params->old_name, holder, params->old_name_size - 1);
    params->old_name[params->old_name_size - 1] = 0;
  }
  return result;
}

SIM_EXPORT CuptiResult cuptiUnsubscribe(CuptiSubscriber *subscriber) {
  Guard guard;
  if (!is_current(subscriber)) return CUPTI_INVALID_PARAMETER;
  end_subscription();
  return CUPTI_OK;
}

SIM_EXPORT CuptiResult cuptiEnableCallback(uint32_t enable, CuptiSubscriber *subscriber, uint32_t domain,
                                           uint32_t cbid) {
  Guard guard;
  uint8_t *enabled = is_current(subscriber) ? find_switch(domain, cbid) : nullptr;
  if (!enabled) return CUPTI_INVALID_PARAMETER;
  *enabled = enable != 0;
  return CUPTI_OK;
}

SIM_EXPORT CuptiResult cuptiGetCallbackState(uint32_t *enable, CuptiSubscriber *subscriber, uint32_t domain,
                                             uint32_t cbid) {
  Guard guard;
  uint8_t *enabled = is_current(subscriber) ? find_switch(domain, cbid) : nullptr;
  if (!enabled || !enable) return CUPTI_INVALID_PARAMETER;
  *enable = *enabled;
  return CUPTI_OK;
}

SIM_EXPORT CuptiResult cuptiEnableDomain(uint32_t enable, CuptiSubscriber *subscriber, uint32_t domain) {
  Guard guard;
  if (!is_current(subscriber) || domain == 0 || domain >= CUPTI_DOMAINS) return CUPTI_INVALID_PARAMETER;
  if (domain == CUPTI_DOMAIN_DRIVER || domain == CUPTI_DOMAIN_RESOURCE) set_domain(domain, enable != 0);
  return CUPTI_OK;
}

SIM_EXPORT CuptiResult cuptiEnableAllDomains(uint32_t enable, CuptiSubscriber *subscriber) {
  Guard guard;
  if (!is_current(subscriber)) return CUPTI_INVALID_PARAMETER;
  set_domain(CUPTI_DOMAIN_DRIVER, enable != 0);
  set_domain(CUPTI_DOMAIN_RESOURCE, enable != 0);
  return CUPTI_OK;
}

/// Ends every subscription, also another party's: as the real call does.
SIM_EXPORT CuptiResult cuptiFinalize(void) {
  Guard guard;
  if (current) end_subscription();
  return CUPTI_OK;
}

SIM_EXPORT CuptiResult cuptiGetVersion(uint32_t *version) {
  if (!version) return CUPTI_INVALID_PARAMETER;
  *version = VERSION;
  return CUPTI_OK;
}

SIM_EXPORT CuptiResult cuptiGetDeviceId(void *context, uint32_t *device) {
  Guard guard;
  if (!device) return CUPTI_INVALID_PARAMETER;
  int found = connect() ? hooks->context_device(context) : -1;
  if (found < 0) return CUPTI_INVALID_CONTEXT;
  *device = static_cast<uint32_t>(found);
  return CUPTI_OK;
}
