#pragma once
// The control word that every traced process watches.
#include <string>

#include "trace/error.h"

namespace gmt::addon {

/// Switches recording in the trace directory on or off; makes the control file when it is absent.
trace::Status set_recording(const std::string &directory, bool on);

}  // namespace gmt::addon
