#include "recorder/job.h"

#include <sys/stat.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "trace/process_runs.h"
#include "trace/trace_directory.h"

namespace gmt::recorder {
namespace {

bool runs(const char *number) {
  const uint64_t pid = std::strtoull(number, nullptr, 10);
  return pid > 0 && pid <= INT32_MAX && trace::process_runs(static_cast<uint32_t>(pid), 0);
}

}  // namespace

bool job_runs(const std::string &directory) {
  std::ifstream file(directory + "/pid");  // of a terminal's shell
  const std::string shell{std::istreambuf_iterator<char>(file), {}};
  if (runs(shell.c_str())) return true;
  static constexpr char kKey[] = "\"pid\":";
  const std::string session = trace::read_session_json(directory);
  for (size_t at = session.find(kKey); at != std::string::npos; at = session.find(kKey, at + 1)) {
    if (runs(session.c_str() + at + sizeof kKey - 1)) return true;
  }
  return false;
}

bool directory_is_there(const std::string &directory) {
  struct stat about;
  return ::stat(directory.c_str(), &about) == 0;
}

}  // namespace gmt::recorder
