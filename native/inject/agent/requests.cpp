#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inject/agent/agent.h"
#include "wire/files.h"

namespace gmt::inject {
namespace {

constexpr size_t kMostBytes = 16u << 20;
uint64_t g_seen;        ///< the highest number that was read
timespec g_changed_at;  ///< the directory's time of change then
uint64_t g_sure_at;     ///< ns; from then on a change has another time: the clock of files has ticked

/// Of the clocks of file systems, the coarsest has two seconds.
constexpr uint64_t kTickOfFiles = 2'500'000'000;

// By hand, not by fstatat: before glibc 2.33 that is no function of its own.
bool changed(const char *directory) {
  const Descriptor fd(open_folder(directory, FileLinks::kFollowed));
  if (fd < 0) return false;
  struct statx now;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_MTIME, &now) != 0) return true;
  const timespec at{static_cast<time_t>(now.stx_mtime.tv_sec), now.stx_mtime.tv_nsec};
  const uint64_t time = clock_ns(CLOCK_MONOTONIC);
  if (at.tv_sec == g_changed_at.tv_sec && at.tv_nsec == g_changed_at.tv_nsec) return time < g_sure_at;
  g_changed_at = at;
  g_sure_at = time + kTickOfFiles;
  return true;
}

/// The number in `request-<number>.json`, 0 where it is another file.
uint64_t number_in(const char *name) {
  constexpr size_t kBefore = sizeof "request-" - 1;
  if (strncmp(name, "request-", kBefore) != 0) return 0;
  char *end = nullptr;
  const uint64_t number = strtoull(name + kBefore, &end, 10);
  return end && strcmp(end, ".json") == 0 ? number : 0;
}

uint64_t next_number(const char *directory) {
  uint64_t next = 0;
  visit_entries(open_folder(directory, FileLinks::kFollowed), [&](const char *name, int) {
    const uint64_t number = number_in(name);
    if (number > g_seen && (next == 0 || number < next)) next = number;
  });
  return next;
}

bool read_file(const char *path, Request &request) {
  const Descriptor fd(open_file(path, O_RDONLY, FileLinks::kRefused));
  const off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
  const size_t size = end < 0 ? 0 : static_cast<size_t>(end);
  return size > 0 && size < kMostBytes && request.reset(size + 1) && read_all(fd, 0, &request[0], size);
}

/// Whether the request names this process: `"pid": 4711`, at whatever place.
bool is_ours(const char *text) {
  const char *at = strstr(text, "\"pid\"");
  if (!at) return false;
  for (at += sizeof "\"pid\"" - 1; *at == ' ' || *at == ':'; at++) {
  }
  return strtol(at, nullptr, 10) == getpid();
}

}  // namespace

void next_request(Request &request) {
  const char *directory = getenv("GPU_MEMTRACE_DIR");
  static bool more;  // a number was found the last time: there may be others behind it
  if (!directory || (!more && !changed(directory))) return;
  while (const uint64_t number = next_number(directory)) {
    more = true;
    g_seen = number;
    char path[4096];
    snprintf(path, sizeof path, "%s/request-%llu.json", directory, static_cast<unsigned long long>(number));
    if (read_file(path, request) && is_ours(request.text())) return;
    request.release();
  }
  more = false;
}

}  // namespace gmt::inject
