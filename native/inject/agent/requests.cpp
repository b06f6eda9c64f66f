#include "inject/agent/requests.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gmt::inject {
namespace {

constexpr size_t kMostBytes = 16u << 20;
uint64_t g_seen;        ///< the highest number that was read
timespec g_changed_at;  ///< the directory's time of change then

// By hand, not by fstatat: before glibc 2.33 that is no function of its own.
bool changed(const char *directory) {
  const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  struct statx now;
  const bool known = statx(fd, "", AT_EMPTY_PATH, STATX_MTIME, &now) == 0;
  close(fd);
  if (!known) return true;
  const timespec at{static_cast<time_t>(now.stx_mtime.tv_sec), now.stx_mtime.tv_nsec};
  if (at.tv_sec == g_changed_at.tv_sec && at.tv_nsec == g_changed_at.tv_nsec) return false;
  g_changed_at = at;
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
  DIR *all = opendir(directory);
  if (!all) return 0;
  uint64_t next = 0;
  while (const dirent *entry = readdir(all)) {
    const uint64_t number = number_in(entry->d_name);
    if (number > g_seen && (next == 0 || number < next)) next = number;
  }
  closedir(all);
  return next;
}

Request read_file(const char *path) {
  Request request{};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
  if (size > 0 && static_cast<size_t>(size) < kMostBytes && lseek(fd, 0, SEEK_SET) == 0) {
    request.bytes = static_cast<size_t>(size);
    void *at = mmap(nullptr, request.bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    request.text = at == MAP_FAILED ? nullptr : static_cast<char *>(at);
  }
  size_t got = 0;
  for (ssize_t n = 1; request.text && n > 0 && got<request.bytes; got += n> 0 ? static_cast<size_t>(n) : 0)
    n = read(fd, request.text + got, request.bytes - got);
  if (fd >= 0) close(fd);
  if (got < request.bytes) forget_request(request);
  return request;
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

void forget_request(Request &request) {
  if (request.text) munmap(request.text, request.bytes + 1);
  request = {};
}

Request next_request() {
  const char *directory = getenv("GPU_MEMTRACE_DIR");
  static bool more;  // a number was found the last time: there may be others behind it
  if (!directory || (!more && !changed(directory))) return {};
  while (const uint64_t number = next_number(directory)) {
    more = true;
    g_seen = number;
    char path[4096];
    snprintf(path, sizeof path, "%s/request-%llu.json", directory, static_cast<unsigned long long>(number));
    Request request = read_file(path);
    if (request.text && is_ours(request.text)) return request;
    forget_request(request);
  }
  more = false;
  return {};
}

}  // namespace gmt::inject
