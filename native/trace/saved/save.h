#pragma once
// Writes a session into one `*.gputrace` (native/wire/container.h).
#include <functional>
#include <string>
#include <vector>

#include "trace/log/log_file.h"
#include "trace/saved/trace_writer.h"

namespace gmt::trace {

/// Packs the logs of `source` (a trace directory, or a saved trace) into the file `target`: chunks that were written,
/// and of a process that still runs what it has written until now. `session_json`: what the launcher knows; empty =
/// as it lies in the source. `open_logs`: LogMerger::open_logs of who reads the source already; taken where the
/// directory has been deleted meanwhile. `add`: adds sections behind the logs, which it can read at unfinished_path(). The file
/// appears at once and whole, or not at all: then one sentence says why. Of logs whose begin is not kept, `add` has to add what
/// their events made.
Status save(const std::string &source, const std::string &target, const std::string &session_json,
            const std::vector<std::string> &open_logs = {},
            const std::function<Status(TraceWriter &, const std::vector<PackedChunks> &)> &add = {});

}  // namespace gmt::trace
