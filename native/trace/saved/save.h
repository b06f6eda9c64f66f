#pragma once
// Writes a session into one `*.gputrace` (native/wire/container.h).
#include <functional>
#include <string>
#include <vector>

#include "trace/log/log_file.h"
#include "trace/saved/trace_writer.h"

namespace gmt::trace {

/// Packs what is written so far of the logs of `source` (a trace directory, or a saved trace) into the file `target`.
/// `session_json`: the launcher's facts; empty = as it lies in the source. `open_logs`: LogMerger::open_logs of who reads the
/// source already, where its directory may be deleted by now. `add`: adds sections behind the logs, which it can read at
/// unfinished_path(); of logs whose begin is not kept, what their events made. The file appears at once and whole, or not at all.
Status save(const std::string &source, const std::string &target, const std::string &session_json,
            const std::vector<std::string> &open_logs = {},
            const std::function<Status(TraceWriter &, const std::vector<PackedChunks> &)> &add = {});

}  // namespace gmt::trace
