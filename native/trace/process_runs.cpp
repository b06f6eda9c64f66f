#include "trace/process_runs.h"

#include <cstring>

#include "wire/files.h"

namespace gmt::trace {
namespace {

std::string text_of(const std::string &path) {
  char text[1024];
  const ssize_t bytes = gmt_read_start(path.c_str(), text, sizeof text);
  return {text, static_cast<size_t>(bytes > 0 ? bytes : 0)};
}

bool thread_held_up(const std::string &thread) {
  const std::string stat = text_of(thread + "/stat");
  const size_t name_end = stat.rfind(')');  // the name may hold spaces and brackets
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return false;
  // Stopped, traced, waiting for a disk; a frozen thread may be said to sleep.
  return std::strchr("TtD", stat[name_end + 2]) || text_of(thread + "/wchan").find("freez") != std::string::npos;
}

}  // namespace

bool process_held_up(uint32_t pid) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  DIR *all = ::fdopendir(open_folder(tasks.c_str(), FileLinks::kFollowed));
  if (!all) return false;
  bool held_up = false;
  while (const dirent *entry = held_up ? nullptr : ::readdir(all))
    held_up = entry->d_name[0] != '.' && thread_held_up(tasks + "/" + entry->d_name);
  ::closedir(all);
  return held_up;
}

}  // namespace gmt::trace
