#include "session/stored_checkpoints.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "session/modelled_trace.h"
#include "session/trace_checkpoint.h"
#include "trace/file_map.h"
#include "trace/saved/trace_writer.h"
#include "trace/trace_directory.h"

namespace gmt::session {
namespace {

constexpr char kSuffix[] = ".gmtcheck";
const std::string kDash = "-";

std::string kind_of(const std::string &name) {
  const size_t dash = name.find(kDash);
  return dash == std::string::npos ? "" : name.substr(dash + 1, name.size() - dash - sizeof kSuffix);
}

}  // namespace

std::vector<CheckpointFile> stored_checkpoints(const std::string &directory) {
  std::vector<CheckpointFile> found;
  const auto names = trace::file_names(directory, kSuffix);
  if (!names) return found;
  for (const std::string &name : names.value()) {
    CheckpointFile one{directory + "/" + name, {sizeof(gmt_checkpoint_header), {}}, kind_of(name)};
    auto map = trace::FileMap::open_in(one.path);
    auto *header = reinterpret_cast<std::byte *>(&one.location.header);
    if (map && map.value().copy(0, sizeof one.location.header, header) &&
        trace::sound(one.location.header, map.value().size()))
      found.push_back(std::move(one));
  }
  std::ranges::stable_sort(found, {}, [](const CheckpointFile &one) { return one.location.header.time_ns; });
  return found;
}

trace::Result<std::string> store_checkpoint(const std::string &directory, uint64_t number, const std::string &kind,
                                            ModelledTrace &modelled, trace::Packer &packer) {
  const std::vector<std::byte> bytes = checkpoint(*modelled.reader, modelled.model);
  const auto frame = packer.pack(bytes);
  const gmt_checkpoint_header header{modelled.reader->time_ns(), frame.size(), bytes.size(), kCheckpointVersion};
  char digits[32];
  std::snprintf(digits, sizeof digits, "/%020llu", static_cast<unsigned long long>(number));
  const std::string path = directory + digits + (kind.empty() ? "" : kDash + kind) + kSuffix;
  const PathParts parts = split_path(path.c_str());
  char unfinished[256];
  const Descriptor fd(parts.folder < 0 ? -1 : create_file(parts.folder, "unfinished", unfinished, 0600));
  bool good = fd >= 0 && trace::write_all(fd, 0, std::as_bytes(std::span(&header, 1))) &&
              trace::write_all(fd, sizeof header, frame);
  good = good && rename_in(parts.folder, unfinished, parts.name);
  const int reason = errno;
  if (fd >= 0 && !good) remove_file(unfinished, parts.folder);
  if (good) return path;
  return trace::Error{"Cannot write " + path + ": " + std::strerror(reason) + "."};
}

uint64_t disk_bytes(const std::string &path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 ? static_cast<uint64_t>(about.st_blocks) * 512 : 0;
}

DirectoryLock::DirectoryLock(const std::string &directory, Byte byte, Way way) {
  // Where no recorder has been, a saver needs nothing of it.
  const int access = way == Way::kTogether ? O_RDONLY : O_RDWR | O_CREAT;
  fd_ = Descriptor(open_file((directory + "/recorder").c_str(), access, FileLinks::kRefused));
  struct flock range {};
  range.l_type = way == Way::kTogether ? F_RDLCK : F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  int result;
  do result = fd_ < 0 ? 0 : ::fcntl(fd_, way == Way::kWhenFree ? F_OFD_SETLK : F_OFD_SETLKW, &range);
  while (result != 0 && errno == EINTR);
  held_ = fd_ >= 0 && result == 0;
}

std::string DirectoryLock::text() const {
  char text[256];
  const ssize_t got = fd_ < 0 ? 0 : ::pread(fd_, text, sizeof text, 0);
  return {text, static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

void DirectoryLock::write(const std::string &text) {
  if (fd_ >= 0 && ::pwrite(fd_, text.data(), text.size(), 0) < 0) return;  // the next recorder takes the usual limits
}

}  // namespace gmt::session
