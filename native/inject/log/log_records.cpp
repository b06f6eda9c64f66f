// Records of the log that describe the process for its user.
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/log/log.h"
#include "wire/process_start.h"
#include "wire/secrets.h"

namespace gmt::inject {

std::string_view cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xc0) == 0x80) most--;
  return {text.data(), most};
}

void write_note(Thread &thread, gmt_note_code code, std::string_view text) {
  text = cut(text, 1000);
  write_side_record(thread, GMT_NOTE, gmt_note{static_cast<uint32_t>(code), static_cast<uint32_t>(text.size())}, text);
}

void write_process(Thread &thread, uint32_t python_version) {
  char command[8192];
  const ssize_t n = gmt_read_start("/proc/self/cmdline", command, sizeof command);
  const size_t bytes = n > 0 ? secrets::mask_command(command, static_cast<size_t>(n)) : 0;
  const gmt_process_record record{static_cast<uint32_t>(bytes), python_version};
  write_side_record(thread, GMT_PROCESS, record, {command, record.command_bytes});
}

void write_thread(Thread &thread) {
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  char path[64], name[64];
  snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
  ssize_t n = gmt_read_start(path, name, sizeof name);
  if (n > 0 && name[n - 1] == '\n') n--;
  const gmt_thread_record record{tid, thread.index, static_cast<uint16_t>(n > 0 ? n : 0)};
  write_side_record(thread, GMT_THREAD, record, {name, record.name_bytes});
}

}  // namespace gmt::inject
