// Records of the log that describe the process for its user.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/log/log.h"

namespace gmt::inject {

void write_note(Thread &thread, gmt_note_code code, const char *text) {
  const gmt_note note{static_cast<uint32_t>(code), static_cast<uint32_t>(strnlen(text, 1000))};
  write_local(thread, GMT_NOTE, &note, sizeof note, text, note.text_bytes);
}

void write_process(Thread &thread, uint32_t python_version) {
  char command[8192];
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, command, sizeof command);
  if (fd >= 0) close(fd);
  const gmt_process_record record{n > 0 ? static_cast<uint32_t>(n) : 0, python_version};
  write_local(thread, GMT_PROCESS, &record, sizeof record, command, record.command_bytes);
}

void write_thread(Thread &thread) {
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  char path[64], name[64];
  snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name);
  if (fd >= 0) close(fd);
  if (n > 0 && name[n - 1] == '\n') n--;
  const gmt_thread_record record{tid, thread.index, static_cast<uint16_t>(n > 0 ? n : 0)};
  write_local(thread, GMT_THREAD, &record, sizeof record, name, record.name_bytes);
}

}  // namespace gmt::inject
