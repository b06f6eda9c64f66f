#pragma once
// Bytes as a file that readers can open.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>

namespace gmt::test {

/// Its path. There is one such file, which the next call writes anew.
inline std::string memory_file(std::span<const std::byte> bytes) {
  static const int fd = ::memfd_create("test", MFD_CLOEXEC);
  const auto count = static_cast<ssize_t>(bytes.size());
  if (::pwrite(fd, bytes.data(), bytes.size(), 0) != count || ::ftruncate(fd, count) != 0) __builtin_trap();
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace gmt::test
