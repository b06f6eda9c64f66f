#pragma once
// Memory behind handles: physical memory and its maps, memory of other processes, address reservations.
#include "model/ingest/context.h"

namespace gmt::model {

void release_handle(const Context &context);
void retain_handle(const Context &context);
void import(const Context &context);
void close_import(const Context &context);
void map(const Context &context);
void unmap(const Context &context);
void free_reservation(const Context &context);

}  // namespace gmt::model
