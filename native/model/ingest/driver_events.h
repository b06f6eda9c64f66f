#pragma once
// The driver's layer: each call that gives memory, takes it or moves addresses.
#include "model/ingest/context.h"

namespace gmt::model {

void handle_driver_event(const Context &context);

}  // namespace gmt::model
