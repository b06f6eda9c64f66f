#pragma once
// Names of the causes of loss, as users see them.
#include "layout.h"

/// Null: no such cause.
static inline const char *gmt_loss_name(uint32_t cause) {
  switch (cause) {
    case GMT_LOST_DISK_FULL:
      return "disk full";
    case GMT_LOST_BUDGET:
      return "budget";
    case GMT_LOST_REENTRANT:
      return "re-entrant";
    case GMT_LOST_THREADS:
      return "too many threads";
    case GMT_LOST_RECORD_SIZE:
      return "record too big";
    case GMT_LOST_STACK_TABLE:
      return "stack table full";
    case GMT_LOST_UNSUPPORTED:
      return "unsupported call";
    case GMT_LOST_DRIVER_GAP:
      return "driver gap";
    case GMT_LOST_RING:
      return "ring full";
    case GMT_LOST_MAP:
      return "kernel table full";
    default:
      return 0;
  }
}
