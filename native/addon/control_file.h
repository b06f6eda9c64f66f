#pragma once
// The control word that every traced process watches.
#include <string>

#include "trace/error.h"

namespace gmt::addon {

/// What switches recording on by itself; 0 = nothing.
struct StartAt {
  uint64_t step = 0;
  uint64_t reserved_bytes = 0;
};

/// Switches recording in the trace directory on or off; makes the control file when it is absent.
trace::Status set_recording(const std::string &directory, bool on, const StartAt &start = {});

}  // namespace gmt::addon
