#include "trace/process_runs.h"

#include <cstring>

#include "wire/files.h"

namespace gmt::trace {
namespace {

bool thread_held_up(const std::string &thread) {
  char text[4096];
  const char *fields = gmt_stat_fields((thread + "/stat").c_str(), text);
  if (!fields || !fields[2]) return false;
  // Stopped, traced, waiting for a disk; a frozen thread may be shown as sleeping.
  if (std::strchr("TtD", fields[2])) return true;
  const ssize_t bytes = gmt_read_start((thread + "/wchan").c_str(), text, sizeof text);
  return bytes > 0 && std::string_view(text, static_cast<size_t>(bytes)).find("freez") != std::string_view::npos;
}

}  // namespace

bool process_held_up(uint32_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  bool held_up = false;
  visit_entries(open_folder(tasks.c_str(), FileLinks::kFollowed), [&](const char *name, int) {
    held_up = held_up || (name[0] != '.' && thread_held_up(tasks + "/" + name));
  });
  return held_up;
}

}  // namespace gmt::trace
