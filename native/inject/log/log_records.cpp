// Records of the log that describe the process for its user.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/log/log.h"

namespace gmt::inject {

void write_note(Thread &thread, gmt_note_code code, const char *text) {
  struct {
    gmt_note note;
    char text[1000];
  } about{};
  const size_t n = strnlen(text, sizeof about.text);
  about.note.code = code;
  about.note.text_bytes = static_cast<uint32_t>(n);
  memcpy(about.text, text, n);
  write_local(thread, GMT_NOTE, &about, static_cast<uint32_t>(sizeof about.note + n));
}

void write_process(Thread &thread, uint32_t python_version) {
  struct {
    gmt_process_record record;
    char command[8192];
  } about;
  about.record.python_version = python_version;
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, about.command, sizeof about.command);
  if (fd >= 0) close(fd);
  about.record.command_bytes = n > 0 ? static_cast<uint32_t>(n) : 0;
  write_local(thread, GMT_PROCESS, &about, static_cast<uint32_t>(sizeof about.record) + about.record.command_bytes);
}

void write_thread(Thread &thread) {
  struct {
    gmt_thread_record record;
    char name[64];
  } about{};
  about.record.tid = static_cast<uint32_t>(syscall(SYS_gettid));
  about.record.index = thread.index;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%u/comm", about.record.tid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, about.name, sizeof about.name);
  if (fd >= 0) close(fd);
  about.record.name_bytes = static_cast<uint16_t>(n > 0 && about.name[n - 1] == '\n' ? n - 1 : n > 0 ? n : 0);
  write_local(thread, GMT_THREAD, &about, sizeof about.record + about.record.name_bytes);
}

}  // namespace gmt::inject
