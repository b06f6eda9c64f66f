#include "inject/log_space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gmt::inject {
namespace {

/// Backs [offset, offset + bytes) with disk space, so that a full disk is an error here and not a SIGBUS later.
bool back_with_space(int fd, uint64_t offset, uint64_t bytes) {
  // Beyond the process's own limit of file sizes the kernel would send SIGXFSZ, which ends the program.
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && offset + bytes > most.rlim_cur) return errno = EFBIG, false;
  if (fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return true;
  // EINTR: tmpfs gives up at each signal, which a profiler's timer can make every time.
  if (errno != EOPNOTSUPP && errno != EINTR) return false;
  static const char zeros[65536] = {};
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t part = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
    const ssize_t n = pwrite(fd, zeros, part, static_cast<off_t>(offset + done));
    if (n <= 0) return false;
    done += static_cast<uint64_t>(n);
  }
  return true;
}

void *map_file(int fd, uint64_t offset, uint64_t bytes) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace

void *open_piece(int fd, uint64_t offset, uint64_t bytes) {
  if (fd < 0) return nullptr;
  void *at = back_with_space(fd, offset, bytes) ? map_file(fd, offset, bytes) : nullptr;
  const int saved = errno;
  close(fd);
  errno = saved;
  return at;
}

}  // namespace gmt::inject
