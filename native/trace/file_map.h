#pragma once
// The bytes of (a part of) a file, read-only: mapped region by region, so that pointers stay valid while the file grows.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/error.h"
#include "wire/files.h"
#include "wire/pages.h"

namespace gmt::trace {

/// What of a file is gone, because it shrank or was freed, reads as zeros.
class FileMap {
 public:
  static constexpr uint64_t kToEnd = ~0ull;

  /// Maps [offset, offset + bytes) of the file; `kToEnd`: up to the end, which may move.
  static Result<FileMap> open(const std::string &path, uint64_t offset = 0, uint64_t bytes = kToEnd,
                              FileLinks links = FileLinks::kFollowed);
  /// All of a file that stands in a trace directory, which others may have made: links lead nowhere.
  static Result<FileMap> open_in(const std::string &path) {
    const bool opened_before = path.starts_with(kDescriptors);
    return open(path, 0, kToEnd, opened_before ? FileLinks::kFollowed : FileLinks::kRefused);
  }

  /// A path to the open file, also once its own was deleted; valid as long as this object.
  std::string open_path() const { return kDescriptors + std::to_string(fd_); }
  /// Bytes that can be read now.
  uint64_t size() const { return size_; }
  /// Looks how long the file is now.
  void refresh();
  /// The `count` bytes at `offset`, or null where they do not all lie in size(). Valid as long as this object. A range
  /// must not cross a region's border: the first region is kFirstRegion long, the others kRegion.
  const std::byte *at(uint64_t offset, uint64_t count);
  /// Reads into `target`, over borders too. False where the bytes do not all lie in size().
  bool copy(uint64_t offset, uint64_t count, std::byte *target);
  /// Gives the pages of a range back to the system; they are read anew when they are needed again. Of a region all of whose bytes
  /// were freed, no pointer is valid any more.
  void forget(uint64_t offset, uint64_t count);
  /// Another open file has a write lock on the first byte.
  bool locked() const;

  static constexpr uint64_t kFirstRegion = 64ull << 10;
  static constexpr uint64_t kRegion = 64ull << 20;

 private:
  static constexpr const char *kDescriptors = "/proc/self/fd/";

  struct Unmap {
    size_t bytes = 0;
    void operator()(const std::byte *start) const;
  };
  using Region = std::unique_ptr<const std::byte, Unmap>;

  FileMap() = default;
  const std::byte *region(size_t index);
  static size_t region_of(uint64_t offset);
  /// Bytes of a region's first page that stand in the file before it.
  uint64_t before() const { return offset_ - page_begin(offset_); }
  static uint64_t region_begin(size_t index) { return index == 0 ? 0 : kFirstRegion + (index - 1) * kRegion; }
  static uint64_t region_bytes(size_t index) { return index == 0 ? kFirstRegion : kRegion; }

  Descriptor fd_;
  uint64_t offset_ = 0;
  uint64_t limit_ = kToEnd;
  uint64_t size_ = 0;
  std::vector<Region> regions_;
  std::vector<uint64_t> forgotten_;  ///< bytes of each region
};

}  // namespace gmt::trace
