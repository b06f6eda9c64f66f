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
  static const char *const names[] = {// in the order of enum gmt_loss
                                      "disk full",        "budget",
                                      "re-entrant",       "too many threads",
                                      "record too big",   "stack table full",
                                      "unsupported call", "driver gap",
                                      "ring full",        "kernel table full",
                                      "file size limit",  "log unreachable",
                                      "stack unreadable", "function without a name"};
  return cause < sizeof names / sizeof *names ? names[cause] : 0;
}

/// Whether events are missing; else they are there, and lack a stack or a name.
static inline int gmt_loses_events(uint32_t cause) {
  return cause != GMT_LOST_STACK_TABLE && cause != GMT_LOST_STACK && cause != GMT_LOST_NAME;
}
