#pragma once
// The driver layer: one CUPTI subscription that sees every driver call which gives or takes memory, whoever makes it. CUPTI
// allows one subscriber in a process, so the subscription is shared with the program's own profiler (cupti_guest.h).
#include <stdint.h>

#include "cuda/cupti.h"
#include "inject/log/log.h"

namespace gmt::inject {

/// Subscribes once. False: no libcupti, or another tool subscribed past us.
bool start_driver_layer();

/// True where the driver domain's callback `id` is one of ours.
bool is_ours(uint32_t domain, uint32_t id);

/// One side of one driver call, from CUPTI or from a wrapper: the function whose frame (__builtin_frame_address(0)) `frame` is.
void on_driver_call(uint32_t cbid, const cuda::CallbackData &data, const void *frame);

/// A wrapped call that ended a context, after it succeeded (with CUPTI the resource domain tells).
void on_context_call(int row, const void *params);

/// A new log has no record of any device.
void forget_devices();

/// Tells the log how the driver layer is recorded.
void describe_driver_layer(Thread &thread);

/// The subscription's handle, null before it stands.
void *subscription();

}  // namespace gmt::inject
