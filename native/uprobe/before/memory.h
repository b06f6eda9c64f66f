#pragma once
// Another process's memory, read within bounds: so many bytes, so much time. It runs while it is read and may hold anything.
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "uprobe/attach/foreign_memory.h"
#include "wire/clock.h"

namespace gmt::uprobe {

struct ReadLimits {
  uint64_t bytes = 512ull << 20;
  uint64_t nanoseconds = 2'000'000'000;
  size_t blocks = 4u << 20;
};

class BoundedMemory {
 public:
  explicit BoundedMemory(pid_t pid, const ReadLimits &limits = {})
      : pid_(pid), limits_(limits), deadline_ns_(monotonic_ns() + limits.nanoseconds), left_bytes_(limits.bytes) {}

  /// False: not all of it could be read, or a limit is reached.
  bool read(uint64_t address, void *to, size_t bytes) {
    if (!charge(bytes)) return false;
    iovec local = {to, bytes}, remote = {reinterpret_cast<void *>(address), bytes};
    const ssize_t got = read_process(pid_, local, &remote, 1);
    if (got == static_cast<ssize_t>(bytes)) return true;
    if (!error_) error_ = got < 0 ? errno : EFAULT;
    return false;
  }
  template <class T>
  std::optional<T> read(uint64_t address) {
    T value;
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  /// `each` bytes at every address, one behind the other; those that cannot be read are zero. False: a limit is reached.
  bool read_each(std::span<const uint64_t> addresses, size_t each, std::vector<std::byte> *to) {
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

  /// Lets the process go on for a millisecond, so that what it was changing is done.
  static void wait() {
    const timespec millisecond = {0, 1'000'000};
    ::nanosleep(&millisecond, nullptr);
  }
  /// Whether half of the bytes are left: what is not needed at any price may be read once more.
  bool plenty() const { return left_bytes_ > limits_.bytes / 2; }
  bool exhausted() const { return exhausted_; }
  /// errno of the first read that failed, 0 = none did.
  int error() const { return error_; }
  const ReadLimits &limits() const { return limits_; }

 private:
  static constexpr size_t kMostPieces = 512;  ///< of one call; the kernel takes up to 1024

  bool charge(uint64_t bytes) {
    if (bytes > left_bytes_ || monotonic_ns() > deadline_ns_) exhausted_ = true;
    if (exhausted_) return false;
    left_bytes_ -= bytes;
    return true;
  }
  /// How many of the first addresses could be read.
  size_t read_some(std::span<const uint64_t> addresses, size_t each, std::byte *to) {
    iovec local = {to, addresses.size() * each};
    iovec remote[kMostPieces];
    for (size_t i = 0; i < addresses.size(); i++) remote[i] = {reinterpret_cast<void *>(addresses[i]), each};
    const ssize_t got = read_process(pid_, local, remote, addresses.size());
    if (got < 0 && !error_) error_ = errno;
    return got < 0 ? 0 : static_cast<size_t>(got) / each;
  }

  pid_t pid_;
  ReadLimits limits_;
  uint64_t deadline_ns_;
  uint64_t left_bytes_;
  bool exhausted_ = false;
  int error_ = 0;
};

/// The value at `offset` of bytes that were read; the caller has made sure that it lies inside.
template <class T>
T value_at(const std::byte *bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace gmt::uprobe
