#pragma once
// A `*.gputrace` while it is written: a temporary file beside the target, renamed at the end.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/error.h"
#include "wire/container.h"
#include "wire/files.h"

namespace gmt::trace {

/// False: not all could be written, and errno has the reason.
bool write_all(int fd, uint64_t offset, std::span<const std::byte> bytes);

/// After an error nothing more is written, and the temporary file goes with this object.
class TraceWriter {
 public:
  explicit TraceWriter(std::string target);
  ~TraceWriter();

  /// Begins a section at the next multiple of 4096.
  void begin_section(gmt_section_kind kind);
  /// Adds to the section; pages of zeros become holes in the file.
  void append(std::span<const std::byte> bytes);
  /// Writes again what lies at `offset` of the section.
  void rewrite(uint64_t offset, std::span<const std::byte> bytes);
  /// From here on what there is can be read at unfinished_path(); more may follow.
  void settle();
  std::string unfinished_path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  uint64_t size() const { return end_; }
  /// Writes the table and the header, makes it durable, and puts it in its place.
  Status finish();
  const Status &error() const { return error_; }

 private:
  void write_at(uint64_t offset, std::span<const std::byte> bytes);
  void fail(const char *doing);

  const std::string target_;
  PathParts path_parts_;
  char temporary_[256];
  Descriptor fd_;
  uint64_t end_ = 0;
  std::vector<gmt_section> sections_;
  Status error_;
};

}  // namespace gmt::trace
