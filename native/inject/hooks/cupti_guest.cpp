#include "inject/hooks/cupti_guest.h"

#include <unistd.h>

#include "cuda/cupti.h"
#include "inject/hooks/cupti_library.h"
#include "inject/hooks/driver_layer.h"
#include "inject/hooks/elf.h"
#include "inject/log/log.h"

namespace gmt::inject {
namespace {

using cuda::Callback;
using cuda::Subscriber;

constexpr uint32_t kIds = 2048;  ///< callback ids of one domain; CUDA 13 has fewer than 900
struct Guest {
  uint32_t state;  ///< kNone, kChanging, kPresent
  uint32_t calls;  ///< of its callback that are under way
  Callback callback;
  void *user;
  uint64_t enabled[cuda::kDomainCount][kIds / 64];
};
Guest g_guest;
enum : uint32_t { kNone, kChanging, kPresent };
thread_local uint32_t t_calls __attribute__((tls_model("initial-exec")));  ///< of this thread

bool in_range(uint32_t domain, uint32_t id) { return domain < cuda::kDomainCount && id < kIds; }

bool is_enabled(uint32_t domain, uint32_t id) {
  return in_range(domain, id) &&
         (__atomic_load_n(&g_guest.enabled[domain][id / 64], __ATOMIC_RELAXED) >> (id % 64) & 1);
}

void set_enabled(uint32_t domain, uint32_t id, bool on) {
  const uint64_t bit = 1ull << (id % 64);
  if (on)
    __atomic_fetch_or(&g_guest.enabled[domain][id / 64], bit, __ATOMIC_RELAXED);
  else
    __atomic_fetch_and(&g_guest.enabled[domain][id / 64], ~bit, __ATOMIC_RELAXED);
}

bool is_shared(Subscriber subscriber) { return subscription() && subscriber == subscription(); }

/// The shared handle of a guest that has unsubscribed is worth nothing to it, while the tracer continues with it.
bool has_gone(Subscriber subscriber) {
  return is_shared(subscriber) && __atomic_load_n(&g_guest.state, __ATOMIC_ACQUIRE) != kPresent;
}

/// The guest's switch for one callback. What the tracer needs stays on.
int enable_for_guest(const cuda::Cupti &cupti, bool on, uint32_t domain, uint32_t id) {
  if (!in_range(domain, id)) return cupti.enable_callback(on, subscription(), domain, id);
  const int result = is_ours(domain, id) ? cuda::kCuptiSuccess : cupti.enable_callback(on, subscription(), domain, id);
  if (result == cuda::kCuptiSuccess) set_enabled(domain, id, on);
  return result;
}

int enable_domain_for_guest(const cuda::Cupti &cupti, bool on, uint32_t domain) {
  if (domain == 0 || domain >= cuda::kDomainCount) return cupti.enable_domain(on, subscription(), domain);
  if (on) {
    const int result = cupti.enable_domain(1, subscription(), domain);
    for (uint64_t &word : g_guest.enabled[domain])
      if (result == cuda::kCuptiSuccess) __atomic_store_n(&word, ~0ull, __ATOMIC_RELAXED);
    return result;
  }
  // One by one: switching the whole domain off would blind the tracer until its own were on again.
  for (uint32_t id = 0; id < kIds; id++)
    if (is_enabled(domain, id)) enable_for_guest(cupti, false, domain, id);
  return cuda::kCuptiSuccess;
}

/// What the guest gave may be gone once it has unsubscribed: its calls end before, but for that which it unsubscribes in. A guest that
/// holds what a call of its own waits for is not waited for longer.
void dismiss_guest(const cuda::Cupti &cupti) {
  uint32_t present = kPresent;
  if (!__atomic_compare_exchange_n(&g_guest.state, &present, kChanging, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return;
  for (int ms = 0; ms < 1000 && __atomic_load_n(&g_guest.calls, __ATOMIC_SEQ_CST) > t_calls; ms++) usleep(1000);
  for (uint32_t domain = 1; domain < cuda::kDomainCount; domain++) enable_domain_for_guest(cupti, false, domain);
  __atomic_store_n(&g_guest.state, kNone, __ATOMIC_RELEASE);
}

int subscribe_guest(Subscriber *out, Callback callback, void *user) {
  uint32_t none = kNone;
  if (!out || !callback) return cuda::kCuptiInvalidParameter;
  if (!__atomic_compare_exchange_n(&g_guest.state, &none, kChanging, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return cuda::kCuptiMultipleSubscribers;
  g_guest.callback = callback;
  g_guest.user = user;
  *out = subscription();
  __atomic_store_n(&g_guest.state, kPresent, __ATOMIC_RELEASE);
  return cuda::kCuptiSuccess;
}

}  // namespace

void pass_to_guest(uint32_t domain, uint32_t id, const void *data) {
  if (!__atomic_load_n(&g_guest.state, __ATOMIC_RELAXED) || !is_enabled(domain, id)) return;
  __atomic_fetch_add(&g_guest.calls, 1, __ATOMIC_SEQ_CST);
  t_calls++;
  if (__atomic_load_n(&g_guest.state, __ATOMIC_SEQ_CST) == kPresent) g_guest.callback(g_guest.user, domain, id, data);
  t_calls--;
  __atomic_fetch_sub(&g_guest.calls, 1, __ATOMIC_SEQ_CST);
}

#define GMT_EXPORT extern "C" __attribute__((visibility("default")))

GMT_EXPORT int cuptiSubscribe(Subscriber *out, Callback callback, void *user) {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti) return cuda::kCuptiInvalidParameter;
  if (configured() && start_driver_layer()) return subscribe_guest(out, callback, user);
  return cupti->subscribe(out, callback, user);
}

/// From CUDA 13.0 on; the parameters name the subscriber, which a shared subscription cannot pass on.
GMT_EXPORT int cuptiSubscribe_v2(Subscriber *out, Callback callback, void *user, void *params) {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti) return cuda::kCuptiInvalidParameter;
  if (configured() && start_driver_layer()) return subscribe_guest(out, callback, user);
  return cupti->subscribe_v2 ? cupti->subscribe_v2(out, callback, user, params) : cupti->subscribe(out, callback, user);
}

GMT_EXPORT int cuptiUnsubscribe(Subscriber subscriber) {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti || has_gone(subscriber)) return cuda::kCuptiInvalidParameter;
  if (!is_shared(subscriber)) return cupti->unsubscribe(subscriber);
  dismiss_guest(*cupti);
  return cuda::kCuptiSuccess;
}

GMT_EXPORT int cuptiEnableCallback(uint32_t enable, Subscriber subscriber, uint32_t domain, uint32_t id) {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti || has_gone(subscriber)) return cuda::kCuptiInvalidParameter;
  return is_shared(subscriber) ? enable_for_guest(*cupti, enable != 0, domain, id)
                               : cupti->enable_callback(enable, subscriber, domain, id);
}

GMT_EXPORT int cuptiEnableDomain(uint32_t enable, Subscriber subscriber, uint32_t domain) {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti || has_gone(subscriber)) return cuda::kCuptiInvalidParameter;
  return is_shared(subscriber) ? enable_domain_for_guest(*cupti, enable != 0, domain)
                               : cupti->enable_domain(enable, subscriber, domain);
}

GMT_EXPORT int cuptiEnableAllDomains(uint32_t enable, Subscriber subscriber) {
  int result = cuda::kCuptiSuccess;
  for (uint32_t domain = cuda::kDomainDriver; domain <= 6; domain++) {
    const int one = cuptiEnableDomain(enable, subscriber, domain);
    if (one != cuda::kCuptiSuccess) result = one;
  }
  return result;
}

GMT_EXPORT int cuptiGetCallbackState(uint32_t *enable, Subscriber subscriber, uint32_t domain, uint32_t id) {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti || !cupti->get_callback_state || !enable || has_gone(subscriber)) return cuda::kCuptiInvalidParameter;
  if (!is_shared(subscriber) || !in_range(domain, id)) return cupti->get_callback_state(enable, subscriber, domain, id);
  *enable = is_enabled(domain, id);
  return cuda::kCuptiSuccess;
}

/// Would end the tracer's subscription too, and CUPTI for the rest of the process: the guest's callbacks end, CUPTI stays.
GMT_EXPORT int cuptiFinalize() {
  const cuda::Cupti *cupti = cupti_library();
  if (!cupti) return cuda::kCuptiInvalidParameter;
  if (!subscription()) return cupti->finalize ? cupti->finalize() : cuda::kCuptiInvalidParameter;
  dismiss_guest(*cupti);
  return cuda::kCuptiSuccess;
}

const Import kStandIns[] = {GMT_IMPORT(cuptiSubscribe),        GMT_IMPORT(cuptiSubscribe_v2),
                            GMT_IMPORT(cuptiUnsubscribe),      GMT_IMPORT(cuptiEnableCallback),
                            GMT_IMPORT(cuptiEnableDomain),     GMT_IMPORT(cuptiEnableAllDomains),
                            GMT_IMPORT(cuptiGetCallbackState), GMT_IMPORT(cuptiFinalize)};

void hook_cupti_by_slots() { redirect_imports(kStandIns); }

void hook_cupti_by_exports(const cuda::Cupti &cupti) {
  redirect_exports(reinterpret_cast<const void *>(cupti.subscribe), kStandIns);
}

}  // namespace gmt::inject
