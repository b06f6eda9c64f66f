#pragma once
// Causes of loss: what the system's error stands for, and the names that users see.
#include <errno.h>

#include "layout.h"

/// Why a log could not grow; `error` is errno.
static inline enum gmt_loss gmt_loss_of(int error) {
  if (error == EFBIG) return GMT_LOST_FILE_LIMIT;
  return error == ENOSPC || error == EDQUOT ? GMT_LOST_DISK_FULL : GMT_LOST_LOG_FILE;
}

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
    case GMT_LOST_FILE_LIMIT:
      return "file size limit";
    case GMT_LOST_LOG_FILE:
      return "log unreachable";
    case GMT_LOST_STACK:
      return "stack unreadable";
    case GMT_LOST_NAME:
      return "function without a name";
    default:
      return 0;
  }
}

/// Whether events are missing; else they are there, and lack a stack or a name.
static inline int gmt_loses_events(uint32_t cause) {
  return cause != GMT_LOST_STACK_TABLE && cause != GMT_LOST_STACK && cause != GMT_LOST_NAME;
}
