#pragma once
// Whether the GIL may be taken without the main thread's knowledge.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace gmt::inject {

/// The main thread waits in the kernel: it is not in the midst of ending the interpreter.
inline bool main_thread_sleeps() {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(getpid()));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return false;
  text[n] = 0;
  const char *end = strrchr(text, ')');
  return end && end[1] == ' ' && end[2] == 'S';
}

}  // namespace gmt::inject
