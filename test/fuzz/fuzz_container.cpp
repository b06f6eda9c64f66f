// A saved trace, as a file.
#include <sys/mman.h>
#include <unistd.h>

#include "trace/session_reader.h"

using namespace gmt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = ::memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0) return 0;
  if (::write(fd, data, size) == static_cast<ssize_t>(size)) {
    auto session = trace::SessionReader::open("/proc/self/fd/" + std::to_string(fd));
    if (session) {
      uint64_t events = 0;
      session.value()->poll([&](const trace::Batch &batch) { events += batch.events.size(); });
      if (events != session.value()->events() || session.value()->live()) __builtin_trap();
      session.value()->losses();
    } else if (session.error().empty()) {
      __builtin_trap();
    }
  }
  ::close(fd);
  return 0;
}
