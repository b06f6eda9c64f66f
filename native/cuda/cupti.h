#pragma once
// The declarations of CUPTI that the project needs, its own: no CUDA toolkit is needed to build. Values and layouts are those of
// cupti_callbacks.h and cupti_result.h (CUDA 13.0), checked against them by test/native/inject/cupti_layout_test.cpp.
#include <stddef.h>
#include <stdint.h>

namespace gmt::cuda {

using Subscriber = void *;  ///< CUpti_SubscriberHandle
enum CuptiResult : int {
  kCuptiSuccess = 0,
  kCuptiInvalidParameter = 1,
  kCuptiInvalidContext = 3,
  kCuptiOutOfMemory = 8,
  kCuptiNotInitialized = 15,
  kCuptiMultipleSubscribers = 39,
};
enum CuptiDomain : uint32_t { kDomainDriver = 1, kDomainRuntime = 2, kDomainResource = 3, kDomainCount = 16 };
enum CuptiResource : uint32_t { kContextCreated = 1, kContextDestroyStarting = 2 };
enum CuptiSite : int { kSiteEnter = 0, kSiteExit = 1 };

/// CUpti_CallbackData
struct CallbackData {
  int site;  ///< CuptiSite
  const char *function_name;
  const void *params;        ///< struct of the call's arguments in order (generated_cuda_meta.h)
  const void *return_value;  ///< CUresult *, only at exit
  const char *symbol_name;
  void *context;
  uint32_t context_uid;
  uint64_t *correlation_data;  ///< one word per call, shared by all subscribers: left to the program's own profiler
  uint32_t correlation_id;
};
static_assert(offsetof(CallbackData, params) == 16 && offsetof(CallbackData, context) == 40);
static_assert(offsetof(CallbackData, correlation_data) == 56 && sizeof(CallbackData) == 72);

/// First members of CUpti_ResourceData
struct ResourceData {
  void *context;
  void *resource;
  void *descriptor;
};

/// CUpti_SubscriberParams, the argument of cuptiSubscribe_v2
struct SubscriberParams {
  size_t struct_size;
  const char *name;
  char *old_name;
  size_t old_name_size;
};

using Callback = void (*)(void *user, uint32_t domain, uint32_t id, const void *data);

/// The functions of one libcupti. Any may be null in an old one.
struct Cupti {
  int (*subscribe)(Subscriber *, Callback, void *user);
  int (*subscribe_v2)(Subscriber *, Callback, void *user, void *params);
  int (*unsubscribe)(Subscriber);
  int (*enable_callback)(uint32_t enable, Subscriber, uint32_t domain, uint32_t id);
  int (*enable_domain)(uint32_t enable, Subscriber, uint32_t domain);
  int (*get_callback_state)(uint32_t *enable, Subscriber, uint32_t domain, uint32_t id);
  int (*get_version)(uint32_t *);
  int (*get_device_id)(void *context, uint32_t *device);
  int (*finalize)();
};

}  // namespace gmt::cuda
