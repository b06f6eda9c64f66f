#include "trace/process_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gmt::trace {

uint64_t process_start(uint32_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[4096];
  ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0) return 0;
  text[got] = 0;
  std::string_view rest(text, static_cast<size_t>(got));
  size_t name_end = rest.rfind(')');  // the name may hold spaces and brackets
  if (name_end == std::string_view::npos || name_end + 2 >= rest.size()) return 0;
  rest.remove_prefix(name_end + 2);
  if (rest.front() == 'Z' || rest.front() == 'X') return 0;
  for (int field = 3; field < 22; ++field) {
    size_t space = rest.find(' ');
    if (space == std::string_view::npos) return 0;
    rest.remove_prefix(space + 1);
  }
  return std::strtoull(rest.data(), nullptr, 10);
}

}  // namespace gmt::trace
