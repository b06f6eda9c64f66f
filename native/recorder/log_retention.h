#pragma once
// The space of one log: how far its process may continue, and which of its chunks are punched.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/log/merge.h"
#include "wire/files.h"
#include "wire/layout.h"

namespace gmt::recorder {

class LogRetention {
 public:
  /// The log at `path`; without room() where it cannot be opened for writing.
  explicit LogRetention(const std::string &path);
  ~LogRetention();

  /// Chunks that its process has taken so far.
  uint64_t reserved() const;
  uint64_t disk_bytes() const;
  /// Its process may take chunks up to this number.
  void limit(uint64_t chunks);

  /// When the first steps were over, as an earlier recorder stored; 0: unknown.
  uint64_t retained_ns() const { return header_ ? header_->kept_ns : 0; }
  /// All before `position` stays: everything up to that session time.
  void retain(const trace::Merge::ReadPosition &position, uint64_t ns);
  /// What was read before `position`, and is not to stay, is punched.
  void punch_before(const trace::Merge::ReadPosition &position);

 private:
  void punch_chunks(uint64_t begin, uint64_t end) const;

  Descriptor fd_;
  gmt_file_header *header_ = nullptr;
  uint64_t done_ = 0;                                     ///< chunks before it were freed, or are in
  std::vector<uint64_t> left_;                            ///< those that were not read to their end then
  std::vector<std::pair<uint64_t, uint64_t>> last_runs_;  ///< that were freed the last time
};

/// Whether the file system of the directory can free parts of files.
bool can_punch(const std::string &directory);

}  // namespace gmt::recorder
