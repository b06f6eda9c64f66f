#pragma once
// The driver layer: one CUPTI subscription that sees every driver call which gives or takes memory, whoever makes it. CUPTI
// allows one subscriber in a process, so the subscription is shared with the program's own profiler (cupti_guest.h).
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// Subscribes once. False: no libcupti, or another tool subscribed past us.
bool start_driver_layer();

/// True where the driver domain's callback `id` is one of ours.
bool is_ours(uint32_t domain, uint32_t id);

/// A new log has no record of any device.
void forget_devices();

/// Tells the log how the driver layer is recorded.
void describe_driver_layer(Thread &thread);

/// The subscription's handle, null before it stands.
void *subscription();

}  // namespace gmt::inject
