#pragma once
// The space of one log: how far its process may go on, and which of its chunks are given back.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/log/merge.h"
#include "wire/layout.h"

namespace gmt::recorder {

class LogSpace {
 public:
  /// The log at `path`; without room() where it cannot be opened for writing.
  explicit LogSpace(const std::string &path);
  ~LogSpace();
  LogSpace(const LogSpace &) = delete;
  LogSpace &operator=(const LogSpace &) = delete;

  /// Chunks that its process has taken so far.
  uint64_t reserved() const;
  /// Bytes that it takes of the disk.
  uint64_t taken() const;
  /// Its process may take chunks up to this number.
  void limit(uint64_t chunks);

  /// When the first steps were over, as an earlier recorder told; 0: none did.
  uint64_t kept_ns() const { return header_ ? header_->kept_ns : 0; }
  /// All before `place` stays: everything up to that session time.
  void keep(const trace::Merge::Place &place, uint64_t ns);
  /// What was read before `place`, and is not to stay, is given back.
  void give_back(const trace::Merge::Place &place);

 private:
  void clear(uint64_t begin, uint64_t end) const;

  int fd_ = -1;
  gmt_file_header *header_ = nullptr;
  uint64_t done_ = 0;                                     ///< chunks before it were given back, or are in
  std::vector<uint64_t> left_;                            ///< those that were not read to their end then
  std::vector<std::pair<uint64_t, uint64_t>> last_runs_;  ///< that were given back the last time
};

/// Whether the file system of the directory gives back parts of files.
bool gives_back(const std::string &directory);

}  // namespace gmt::recorder
