#pragma once
// Turns a PyTorch memory snapshot (`torch.cuda.memory._dump_snapshot`) into a saved trace.
#include <string>

#include "trace/error.h"

namespace gmt::trace {

/// Reads the pickle at `path` without running anything in it, and writes the same history as one process into the file
/// `target`, a `*.gputrace`. The file appears at once and whole, or not at all: then one sentence has the reason.
Status import_snapshot(const std::string &path, const std::string &target);

}  // namespace gmt::trace
