#pragma once
// CUPTI's callback interface as far as it is simulated (cupti_callbacks.h, cupti_result.h of CUDA 13.0).
#include <cstddef>
#include <cstdint>

namespace sim {

enum CuptiResult : int {
  CUPTI_OK = 0,
  CUPTI_INVALID_PARAMETER = 1,
  CUPTI_INVALID_CONTEXT = 3,
  CUPTI_OUT_OF_MEMORY = 8,
  CUPTI_NOT_INITIALIZED = 15,
  CUPTI_MULTIPLE_SUBSCRIBERS = 39,
};

enum CuptiDomain : uint32_t { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RESOURCE = 3, CUPTI_DOMAINS = 7 };

constexpr uint32_t CUPTI_DRIVER_CALLBACKS = 807;  ///< CUPTI_DRIVER_TRACE_CBID_SIZE of 13.0
constexpr uint32_t CUPTI_RESOURCE_CALLBACKS = 24;

using CuptiCallback = void (*)(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

struct CuptiSubscriber {
  CuptiCallback callback;
  void *userdata;
};

struct CuptiCallbackData {
  uint32_t site;  ///< 0 enter, 1 exit
  const char *function_name;
  const void *params;
  void *result;
  const char *symbol_name;
  void *context;
  uint32_t context_uid;
  uint64_t *correlation_data;
  uint32_t correlation_id;
};

struct CuptiResourceData {
  void *context, *stream, *descriptor;
};

struct CuptiSubscriberParams {
  size_t struct_size;
  const char *name;
  char *old_name;
  size_t old_name_size;
};

}  // namespace sim
