// The simulated libcupti.so.13: CUPTI's callback interface over the simulated driver.
#include "cuda/cupti.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "simulator/array.h"
#include "simulator/driver/driver_types.h"
#include "simulator/hook.h"

using namespace gmt::cuda;

SIM_EXPORT int gpu_memtrace_simulator;
int gpu_memtrace_simulator = 1;

namespace {

constexpr uint32_t VERSION = 130001;
constexpr uint32_t DRIVER_CALLBACKS = 807;  ///< CUPTI_DRIVER_TRACE_CBID_SIZE of 13.0
constexpr uint32_t RESOURCE_CALLBACKS = 24;

/// What a handle of a subscriber points at.
struct Subscribed {
  Callback callback;
  void *userdata;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
gmt_sim_hooks *hooks = nullptr;  ///< of the simulated driver, once found
Subscribed *current = nullptr;   ///< atomic; ended ones are never freed, a callback may still use them
char holder[64] = "";            ///< name of the current subscriber

void call_subscriber(uint32_t domain, uint32_t cbid, const void *data) {
  Subscribed *subscriber = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
  if (subscriber) subscriber->callback(subscriber->userdata, domain, cbid, data);
}

void on_call(uint32_t cbid, const CallbackData *data) { call_subscriber(kDomainDriver, cbid, data); }

void on_resource(uint32_t cbid, void *context) {
  ResourceData data = {context, nullptr, nullptr};
  call_subscriber(kDomainResource, cbid, &data);
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
  if (domain == kDomainDriver && cbid > 0 && cbid < DRIVER_CALLBACKS) return &hooks->enabled[cbid];
  if (domain == kDomainResource && cbid > 0 && cbid < RESOURCE_CALLBACKS) return &hooks->resource_enabled[cbid];
  return nullptr;
}

void set_domain(uint32_t domain, uint8_t enable) {
  uint32_t count = domain == kDomainDriver ? DRIVER_CALLBACKS : RESOURCE_CALLBACKS;
  for (uint32_t cbid = 1; cbid < count; ++cbid) {
    if (uint8_t *enabled = find_switch(domain, cbid)) *enabled = enable;
  }
}

void end_subscription() {
  set_domain(kDomainDriver, 0);
  set_domain(kDomainResource, 0);
  __atomic_store_n(&current, static_cast<Subscribed *>(nullptr), __ATOMIC_RELEASE);
}

CuptiResult subscribe(Subscriber *subscriber, Callback callback, void *userdata, const char *name) {
  if (!subscriber || !callback) return kCuptiInvalidParameter;
  if (!connect()) return kCuptiNotInitialized;
  if (current) return kCuptiMultipleSubscribers;
  Subscribed *created = static_cast<Subscribed *>(calloc(1, sizeof(Subscribed)));
  if (!created) return kCuptiOutOfMemory;
  *created = {callback, userdata};
  strcpy(holder, name ? "CUPTI for " : "CUPTI");
  if (name) strncat(holder, name, 53);
  __atomic_store_n(&current, created, __ATOMIC_RELEASE);
  *subscriber = created;
  return kCuptiSuccess;
}

bool is_current(Subscriber subscriber) { return subscriber && subscriber == current; }

}  // namespace

SIM_EXPORT CuptiResult cuptiSubscribe(Subscriber *subscriber, Callback callback, void *userdata) {
  sim::Guard guard(lock);
  return subscribe(subscriber, callback, userdata, nullptr);
}

SIM_EXPORT CuptiResult cuptiSubscribe_v2(Subscriber *subscriber, Callback callback, void *userdata,
                                         SubscriberParams *params) {
  sim::Guard guard(lock);
  if (params && params->struct_size < sizeof(SubscriberParams)) return kCuptiInvalidParameter;
  CuptiResult result = subscribe(subscriber, callback, userdata, params ? params->name : nullptr);
  if (result == kCuptiMultipleSubscribers && params && params->old_name && params->old_name_size) {
    strncpy(params->old_name, holder, params->old_name_size - 1);
    params->old_name[params->old_name_size - 1] = 0;
  }
  return result;
}

SIM_EXPORT CuptiResult cuptiUnsubscribe(Subscriber subscriber) {
  sim::Guard guard(lock);
  if (!is_current(subscriber)) return kCuptiInvalidParameter;
  end_subscription();
  return kCuptiSuccess;
}

SIM_EXPORT CuptiResult cuptiEnableCallback(uint32_t enable, Subscriber subscriber, uint32_t domain, uint32_t cbid) {
  sim::Guard guard(lock);
  uint8_t *enabled = is_current(subscriber) ? find_switch(domain, cbid) : nullptr;
  if (!enabled) return kCuptiInvalidParameter;
  *enabled = enable != 0;
  return kCuptiSuccess;
}

SIM_EXPORT CuptiResult cuptiGetCallbackState(uint32_t *enable, Subscriber subscriber, uint32_t domain, uint32_t cbid) {
  sim::Guard guard(lock);
  uint8_t *enabled = is_current(subscriber) ? find_switch(domain, cbid) : nullptr;
  if (!enabled || !enable) return kCuptiInvalidParameter;
  *enable = *enabled;
  return kCuptiSuccess;
}

SIM_EXPORT CuptiResult cuptiEnableDomain(uint32_t enable, Subscriber subscriber, uint32_t domain) {
  sim::Guard guard(lock);
  if (!is_current(subscriber) || domain == 0 || domain >= kDomainCount) return kCuptiInvalidParameter;
  if (domain == kDomainDriver || domain == kDomainResource) set_domain(domain, enable != 0);
  return kCuptiSuccess;
}

/// Ends every subscription, also another party's: as the real call does.
SIM_EXPORT CuptiResult cuptiFinalize(void) {
  sim::Guard guard(lock);
  if (current) end_subscription();
  return kCuptiSuccess;
}

SIM_EXPORT CuptiResult cuptiGetVersion(uint32_t *version) {
  if (!version) return kCuptiInvalidParameter;
  *version = VERSION;
  return kCuptiSuccess;
}

SIM_EXPORT CuptiResult cuptiGetDeviceId(void *context, uint32_t *device) {
  sim::Guard guard(lock);
  if (!device) return kCuptiInvalidParameter;
  int found = connect() ? hooks->context_device(context) : -1;
  if (found < 0) return kCuptiInvalidContext;
  *device = static_cast<uint32_t>(found);
  return kCuptiSuccess;
}
