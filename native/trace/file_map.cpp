#include "trace/file_map.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace gmt::trace {
namespace {

// Mapped files whose pages may be gone. To read a hole takes a page of the disk where that is memory, and a full one answers with
// SIGBUS, as a file does that was cut short: both are read as zeros instead.
constexpr uintptr_t kPage = 4096;

struct PageRange {
  std::atomic<uintptr_t> begin{0}, end{0};
};
/// A handler of a signal may take no lock. Of more mappings the rest is as if there was no handler.
std::array<PageRange, 1024> g_ranges;
struct sigaction g_previous;

void on_unbacked(int signal, siginfo_t *about, void *) {
  const int saved = errno;
  const auto at = reinterpret_cast<uintptr_t>(about->si_addr) & ~(kPage - 1);
  for (const PageRange &range : g_ranges) {
    if (at < range.begin || at >= range.end) continue;
    constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(reinterpret_cast<void *>(at), kPage, PROT_READ, kHow, -1, 0) != MAP_FAILED) {
      errno = saved;
      return;
    }
  }
  ::sigaction(SIGBUS, &g_previous, nullptr);  // what was read is read again, and is not ours
  if (about->si_code <= 0) ::raise(signal);
  errno = saved;
}

/// From here on this mapping, which is only read, never ends the program.
void read_unbacked_as_zeros(const void *mapped, size_t bytes) {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_unbacked;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    return ::sigaction(SIGBUS, &action, &g_previous) == 0;
  }();
  if (!installed) return;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  for (PageRange &range : g_ranges) {
    uintptr_t none = 0;
    if (range.begin.compare_exchange_strong(none, begin)) return range.end.store(begin + bytes);
  }
}

/// It is about to go.
void forget_unbacked(const void *mapped) {
  for (PageRange &range : g_ranges) {
    if (range.begin != reinterpret_cast<uintptr_t>(mapped)) continue;
    range.end = 0;
    range.begin = 0;
    return;
  }
}

}  // namespace

Result<FileMap> FileMap::open(const std::string &path, uint64_t offset, uint64_t bytes, FileLinks links) {
  FileMap map;
  map.fd_ = open_file(path.c_str(), O_RDONLY, links);
  if (map.fd_ < 0) return Error{"Cannot open " + path + ": " + file_problem(errno) + "."};
  map.offset_ = offset;
  map.limit_ = bytes;
  map.refresh();
  return map;
}

FileMap::FileMap(FileMap &&other) noexcept { *this = std::move(other); }

FileMap &FileMap::operator=(FileMap &&other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  offset_ = other.offset_;
  limit_ = other.limit_;
  size_ = std::exchange(other.size_, 0);
  regions_ = std::exchange(other.regions_, {});
  forgotten_ = std::exchange(other.forgotten_, {});
  return *this;
}

FileMap::~FileMap() { close(); }

void FileMap::close() {
  for (size_t i = 0; i < regions_.size(); ++i) unmap(i);
  regions_.clear();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void FileMap::unmap(size_t index) {
  const std::byte *start = std::exchange(regions_[index], nullptr);
  if (!start) return;
  forget_unbacked(start);
  ::munmap(const_cast<std::byte *>(start), region_bytes(index));
}

void FileMap::refresh() {
  struct stat status;
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) return;
  uint64_t file_bytes = static_cast<uint64_t>(status.st_size);
  size_ = file_bytes <= offset_ ? 0 : std::min(limit_, file_bytes - offset_);
}

size_t FileMap::region_of(uint64_t offset) {
  return offset < kFirstRegion ? 0 : 1 + static_cast<size_t>((offset - kFirstRegion) / kRegion);
}

const std::byte *FileMap::region(size_t index) {
  if (index >= regions_.size()) regions_.resize(index + 1, nullptr), forgotten_.resize(index + 1);
  if (regions_[index]) return regions_[index];
  // A mapping may reach beyond the end of the file; at() keeps readers inside it.
  void *mapped = ::mmap(nullptr, region_bytes(index), PROT_READ, MAP_SHARED, fd_,
                        static_cast<off_t>(offset_ + region_begin(index)));
  if (mapped == MAP_FAILED) return nullptr;
  read_unbacked_as_zeros(mapped, region_bytes(index));
  return regions_[index] = static_cast<const std::byte *>(mapped);
}

const std::byte *FileMap::at(uint64_t offset, uint64_t count) {
  if (count > size_ || offset > size_ - count) return nullptr;
  const size_t index = region_of(offset);
  uint64_t inside = offset - region_begin(index);
  if (inside + count > region_bytes(index)) return nullptr;
  const std::byte *start = region(index);
  return start ? start + inside : nullptr;
}

bool FileMap::copy(uint64_t offset, uint64_t count, std::byte *target) {
  if (count > size_ || offset > size_ - count) return false;
  while (count > 0) {
    ssize_t got = ::pread(fd_, target, count, static_cast<off_t>(offset_ + offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<uint64_t>(got);
    target += got;
    count -= static_cast<uint64_t>(got);
  }
  return true;
}

void FileMap::forget(uint64_t offset, uint64_t count) {
  const size_t index = region_of(offset);
  if (index >= regions_.size() || !regions_[index]) return;
  const std::byte *start = at(offset, count);
  if (!start) return;
  ::madvise(const_cast<std::byte *>(start), count, MADV_DONTNEED);
  // The system's tables of a mapping take a five-hundredth of it, without end where a log has none.
  if ((forgotten_[index] += count) < region_bytes(index)) return;
  unmap(index);
  forgotten_[index] = 0;
}

bool FileMap::locked() const {
  struct flock lock {
    F_RDLCK, SEEK_SET, 0, 1, 0
  };
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace gmt::trace
