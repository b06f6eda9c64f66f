// Compares cupti_types.h with the real header. Checks nothing without a CUDA toolkit.
#if __has_include(<cupti_callbacks.h>) && __has_include(<cupti_driver_cbid.h>)
#include <cuda.h>
#if CUDA_VERSION >= 13000
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>

#include "cuda/calls.h"
#include "cupti_types.h"

#define SAME_PLACE(ours, field, theirs, real) \
  static_assert(offsetof(sim::ours, field) == offsetof(theirs, real), #theirs "." #real)

static_assert(sizeof(sim::CuptiCallbackData) == sizeof(CUpti_CallbackData));
SAME_PLACE(CuptiCallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(CuptiCallbackData, function_name, CUpti_CallbackData, functionName);
SAME_PLACE(CuptiCallbackData, params, CUpti_CallbackData, functionParams);
SAME_PLACE(CuptiCallbackData, result, CUpti_CallbackData, functionReturnValue);
SAME_PLACE(CuptiCallbackData, symbol_name, CUpti_CallbackData, symbolName);
SAME_PLACE(CuptiCallbackData, context, CUpti_CallbackData, context);
SAME_PLACE(CuptiCallbackData, context_uid, CUpti_CallbackData, contextUid);
SAME_PLACE(CuptiCallbackData, correlation_data, CUpti_CallbackData, correlationData);
SAME_PLACE(CuptiCallbackData, correlation_id, CUpti_CallbackData, correlationId);
static_assert(sizeof(sim::CuptiResourceData) == sizeof(CUpti_ResourceData));
SAME_PLACE(CuptiResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
static_assert(sizeof(sim::CuptiSubscriberParams) == sizeof(CUpti_SubscriberParams));
SAME_PLACE(CuptiSubscriberParams, old_name_size, CUpti_SubscriberParams, oldSubscriberSize);

#define SAME_CODE(ours, theirs) static_assert(static_cast<int>(sim::ours) == static_cast<int>(theirs), #theirs)
SAME_CODE(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
SAME_CODE(CUPTI_INVALID_CONTEXT, CUPTI_ERROR_INVALID_CONTEXT);
SAME_CODE(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_CODE(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME_CODE(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_CODE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_CODE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);

#define X(name, cbid, ...) static_assert(cbid == CUPTI_DRIVER_TRACE_CBID_##name, #name);
GMT_CALLS(X)
#undef X

#endif
#endif
