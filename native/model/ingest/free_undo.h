#pragma once
// A free that turned out to have failed is taken back.
#include "model/ingest/context.h"

namespace gmt::model {

void undo_free(const Context &context);

}  // namespace gmt::model
