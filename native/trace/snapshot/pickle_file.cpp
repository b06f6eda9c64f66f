// A pickle in a file.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trace/snapshot/pickle_reader.h"
#include "wire/files.h"

namespace gmt::trace {
namespace {

constexpr uint64_t kMostBytes = 1ull << 32;

}  // namespace

// Read, not mapped: a program may write the file anew, and a map that loses its pages ends the process.
Result<PickleTree> read_pickle_file(const std::string &path) {
  const auto because = [&](const char *why) { return Error{path + " was not opened: " + why + "."}; };
  const Descriptor fd(open_file(path.c_str(), O_RDONLY, FileLinks::kFollowed));
  if (fd < 0) return because(file_problem(errno));
  struct stat status;
  const uint64_t size = facts_of(fd, &status) ? static_cast<uint64_t>(status.st_size) : 0;
  if (size > kMostBytes) return because("it is larger than 4 GiB");
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(size + 1);
  uint64_t count = 0;
  ssize_t got = 1;
  while (count < size && got != 0) {
    got = ::read(fd, bytes.get() + count, size - count);
    if (got < 0 && errno != EINTR) break;
    if (got > 0) count += static_cast<uint64_t>(got);
  }
  if (got < 0) return because(std::strerror(errno));
  return read_pickle(std::move(bytes), count, path);
}

}  // namespace gmt::trace
