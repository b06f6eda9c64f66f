#pragma once
// Another process's memory, read within bounds: so many bytes, so much time. It runs while it is read and may hold anything.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace gmt::uprobe {

struct ReadLimits {
  uint64_t bytes = 512ull << 20;
  uint64_t nanoseconds = 2'000'000'000;
  size_t blocks = 4u << 20;
};

class BoundedMemory {
 public:
  explicit BoundedMemory(pid_t pid, const ReadLimits &limits = {});

  /// False: not all of it could be read, or a limit is reached.
  bool read(uint64_t address, void *to, size_t bytes);
  template <class T>
  std::optional<T> read(uint64_t address) {
    T value;
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  /// `each` bytes at every address, one behind the other; those that cannot be read are zero. False: a limit is reached.
  bool read_each(std::span<const uint64_t> addresses, size_t each, std::vector<std::byte> *to);

  /// Lets the process go on for a millisecond, so that what it was changing is done.
  static void wait();
  /// Whether half of the bytes are left: what is not needed at any price may be read once more.
  bool plenty() const { return left_bytes_ > limits_.bytes / 2; }
  bool exhausted() const { return exhausted_; }
  /// errno of the first read that failed, 0 = none did.
  int error() const { return error_; }
  const ReadLimits &limits() const { return limits_; }

 private:
  bool charge(uint64_t bytes);
  size_t read_some(std::span<const uint64_t> addresses, size_t each, std::byte *to);

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
