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

namespace gmt::trace {
namespace {

// Mapped files whose pages may be gone. To read a hole takes a page of the disk where that is memory, and a full one answers with
// SIGBUS, as a file does that was cut short: both are read as zeros instead.
struct PageRange {
  std::atomic<uintptr_t> begin{0}, end{0};
};
/// A handler of a signal may take no lock. Of more mappings the rest is as if there was no handler.
std::array<PageRange, 1024> g_ranges;
struct sigaction g_previous;

void on_unbacked(int signal, siginfo_t *about, void *) {
  const int saved = errno;
  const uintptr_t at = page_begin(reinterpret_cast<uintptr_t>(about->si_addr));
  for (const PageRange &range : g_ranges) {
    if (at < range.begin || at >= range.end) continue;
    constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(reinterpret_cast<void *>(at), page_bytes(), PROT_READ, kHow, -1, 0) != MAP_FAILED) {
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

}  // namespace

void FileMap::Unmap::operator()(const std::byte *start) const {
  for (PageRange &range : g_ranges) {
    if (range.begin != reinterpret_cast<uintptr_t>(start)) continue;
    range.end = 0;
    range.begin = 0;
    break;
  }
  ::munmap(const_cast<std::byte *>(start), bytes);
}

Result<FileMap> FileMap::open(const std::string &path, uint64_t offset, uint64_t bytes, FileLinks links) {
  FileMap map;
  map.fd_ = Descriptor(open_file(path.c_str(), O_RDONLY, links));
  if (map.fd_ < 0) return Error{"Cannot open " + path + ": " + file_problem(errno) + "."};
  map.offset_ = offset;
  map.limit_ = bytes;
  map.refresh();
  return map;
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
  if (index >= regions_.size()) regions_.resize(index + 1), forgotten_.resize(index + 1);
  if (regions_[index]) return regions_[index].get();
  // A mapping may reach beyond the end of the file; at() keeps readers inside it.
  const uint64_t from = page_begin(offset_ + region_begin(index)), bytes = region_bytes(index) + before();
  void *mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(from));
  if (mapped == MAP_FAILED) return nullptr;
  read_unbacked_as_zeros(mapped, bytes);
  regions_[index] = Region(static_cast<const std::byte *>(mapped), {bytes});
  return regions_[index].get();
}

const std::byte *FileMap::at(uint64_t offset, uint64_t count) {
  if (count > size_ || offset > size_ - count) return nullptr;
  const size_t index = region_of(offset);
  uint64_t inside = offset - region_begin(index);
  if (inside + count > region_bytes(index)) return nullptr;
  const std::byte *start = region(index);
  return start ? start + before() + inside : nullptr;
}

bool FileMap::copy(uint64_t offset, uint64_t count, std::byte *target) {
  return count <= size_ && offset <= size_ - count && read_all(fd_, offset_ + offset, target, count);
}

void FileMap::forget(uint64_t offset, uint64_t count) {
  const size_t index = region_of(offset);
  if (index >= regions_.size() || !regions_[index]) return;
  const std::byte *start = at(offset, count);
  if (!start) return;
  const uint64_t begin = page_begin(reinterpret_cast<uintptr_t>(start) + page_bytes() - 1);
  const uint64_t end = page_begin(reinterpret_cast<uintptr_t>(start) + count);
  if (begin < end) ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  // The system's tables of a mapping take a five-hundredth of it, without end where a log has none.
  if ((forgotten_[index] += count) < region_bytes(index)) return;
  regions_[index] = nullptr;
  forgotten_[index] = 0;
}

bool FileMap::locked() const {
  struct flock lock {
    F_RDLCK, SEEK_SET, 0, 1, 0
  };
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace gmt::trace
