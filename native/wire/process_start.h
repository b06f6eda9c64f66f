#pragma once
// Files of /proc. What distinguishes two processes of one number: field 22 of /proc/PID/stat, in clock ticks since boot.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The first bytes of a file, at most `room`; -1: it cannot be read.
inline ssize_t gmt_read_start(const char *path, char *to, size_t room) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t bytes = read(fd, to, room);
  close(fd);
  return bytes;
}

/// What follows the name, which may hold spaces and brackets, in a file `stat`: ") S 1 ..."; null: it cannot be read.
inline const char *gmt_stat_fields(const char *stat, char (&text)[4096]) {
  const ssize_t n = gmt_read_start(stat, text, sizeof text - 1);
  text[n > 0 ? n : 0] = 0;
  const char *end = strrchr(text, ')');
  return end && end[1] ? end : nullptr;
}

/// `stat`: path of the file. 0: no such process, or one that has ended and only waits to be reaped.
inline uint64_t gmt_process_start(const char *stat) {
  char text[4096];
  const char *p = gmt_stat_fields(stat, text);
  if (!p || p[2] == 'Z' || p[2] == 'X') return 0;
  for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
  return p ? strtoull(p + 1, NULL, 10) : 0;
}

/// Of this process, from the file of its first thread: an emulator of another processor makes up the process's own, not that one.
inline uint64_t gmt_own_start() {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
  const uint64_t start = gmt_process_start(path);
  return start ? start : gmt_process_start("/proc/self/stat");
}
