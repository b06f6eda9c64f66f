#pragma once
// The directory of a running session: `control`, `session.json`, one `*.gmtlog` a process.
#include <string>
#include <string_view>
#include <vector>

#include "trace/error.h"

namespace gmt::trace {

/// Names of the files in it that end so, sorted. An error where it cannot be read.
Result<std::vector<std::string>> file_names(const std::string &directory, std::string_view end);

/// Text of a file that stands in a trace directory, empty where there is none; of a long one its begin.
std::string read_text(const std::string &path);

/// Text of `session.json`, empty where there is none.
std::string read_session_json(const std::string &directory);

/// Whether the launcher has written exit statuses into the session: no process will be added.
bool session_over(const std::string &session_json);

/// Nothing, or why `directory` cannot be a trace directory: one that holds other things and nothing of a trace.
Status check_directory(const std::string &directory);

}  // namespace gmt::trace
