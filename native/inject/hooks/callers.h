#pragma once
// Which library called the driver: the first frame that is not of the driver, the CUDA runtime, CUPTI, or a foreign function interface.
#include <stdint.h>

#include "inject/log/log.h"

namespace gmt::inject {

/// The number of the calling library, as GMT_LIBRARY names it; 0: unknown (code without unwind tables, more than kMostFrames
/// frames). `frame` is what __builtin_frame_address(0) gives in the function that the driver, or CUPTI, called. Keeps errno.
uint32_t calling_library(const void *frame);

/// A new log has no record of any.
void forget_libraries();

/// Writes the record of that library, once a log.
void describe_library(Thread &thread, uint32_t library);

constexpr uint32_t kMostFrames = 64;

}  // namespace gmt::inject
