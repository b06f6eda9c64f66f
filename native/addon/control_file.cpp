#include "addon/control_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "wire/layout.h"

namespace gmt::addon {
namespace {

trace::Error failure(const std::string &file, const char *what) {
  return {"Recording could not be switched: " + file + " cannot be " + what + " (" + std::strerror(errno) +
          "); check that the trace directory exists and belongs to you."};
}

/// A process may switch it on at the same time: each change counts once.
void write_word(gmt_control &control, bool on, const StartAt &start) {
  const bool fresh = __atomic_load_n(&control.magic, __ATOMIC_ACQUIRE) != GMT_CONTROL_MAGIC;
  __atomic_store_n(&control.version, 1u, __ATOMIC_RELAXED);
  __atomic_store_n(&control.start_step, start.step, __ATOMIC_RELAXED);
  __atomic_store_n(&control.start_reserved, start.reserved_bytes, __ATOMIC_RELAXED);
  const uint32_t before = __atomic_exchange_n(&control.recording, on ? 1u : 0u, __ATOMIC_ACQ_REL);
  if (fresh || before != (on ? 1u : 0u)) __atomic_fetch_add(&control.generation, 1u, __ATOMIC_RELEASE);
  __atomic_store_n(&control.magic, GMT_CONTROL_MAGIC, __ATOMIC_RELEASE);
}

}  // namespace

trace::Status set_recording(const std::string &directory, bool on, const StartAt &start) {
  const std::string file = directory + "/control";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failure(file, "opened");
  // With its place on the disk: a first write to a mapped hole ends the process where the disk is full (SIGBUS).
  do errno = ::posix_fallocate(fd, 0, sizeof(gmt_control));
  while (errno == EINTR);
  void *mapped =
      errno == 0 ? ::mmap(nullptr, sizeof(gmt_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  trace::Status status;
  if (mapped == MAP_FAILED) {
    status = failure(file, "written");
  } else {
    write_word(*static_cast<gmt_control *>(mapped), on, start);
    ::munmap(mapped, sizeof(gmt_control));
  }
  ::close(fd);
  return status;
}

}  // namespace gmt::addon
