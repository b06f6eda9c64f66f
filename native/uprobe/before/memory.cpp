#include "uprobe/before/memory.h"

#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "uprobe/attach/foreign_memory.h"
#include "wire/clock.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostPieces = 512;  ///< of one call; the kernel takes up to 1024

}  // namespace

BoundedMemory::BoundedMemory(pid_t pid, const ReadLimits &limits)
    : pid_(pid), limits_(limits), deadline_ns_(monotonic_ns() + limits.nanoseconds), left_bytes_(limits.bytes) {}

bool BoundedMemory::charge(uint64_t bytes) {
  if (bytes > left_bytes_ || monotonic_ns() > deadline_ns_) exhausted_ = true;
  if (exhausted_) return false;
  left_bytes_ -= bytes;
  return true;
}

void BoundedMemory::wait() {
  const timespec millisecond = {0, 1'000'000};
  ::nanosleep(&millisecond, nullptr);
}

bool BoundedMemory::read(uint64_t address, void *to, size_t bytes) {
  if (!charge(bytes)) return false;
  iovec local = {to, bytes}, remote = {reinterpret_cast<void *>(address), bytes};
  const ssize_t got = read_process(pid_, local, &remote, 1);
  if (got == static_cast<ssize_t>(bytes)) return true;
  if (!error_) error_ = got < 0 ? errno : EFAULT;
  return false;
}

/// How many of the first addresses could be read.
size_t BoundedMemory::read_some(std::span<const uint64_t> addresses, size_t each, std::byte *to) {
  iovec local = {to, addresses.size() * each};
  iovec remote[kMostPieces];
  for (size_t i = 0; i < addresses.size(); i++) remote[i] = {reinterpret_cast<void *>(addresses[i]), each};
  const ssize_t got = read_process(pid_, local, remote, addresses.size());
  if (got < 0 && !error_) error_ = errno;
  return got < 0 ? 0 : static_cast<size_t>(got) / each;
}

bool BoundedMemory::read_each(std::span<const uint64_t> addresses, size_t each, std::vector<std::byte> *to) {
  to->clear();
  if (addresses.size() > left_bytes_ / each) return charge(~0ull);
  to->resize(addresses.size() * each);
  for (size_t done = 0; done < addresses.size();) {
    const auto part = addresses.subspan(done, std::min(kMostPieces, addresses.size() - done));
    if (!charge(part.size() * each)) return false;
    const size_t read = read_some(part, each, to->data() + done * each);
    done += read;
    if (read == part.size()) continue;
    std::fill_n(to->begin() + static_cast<ptrdiff_t>(done * each), each, std::byte{});
    done++;
  }
  return true;
}

}  // namespace gmt::uprobe
