#pragma once
// Whether there is a job to record.
#include <string>

namespace gmt::recorder {

/// A process that the launcher named (session.json, pid) runs; it may not have used the GPU yet.
bool job_runs(const std::string &directory);

/// False: the trace was deleted.
bool directory_is_there(const std::string &directory);

}  // namespace gmt::recorder
