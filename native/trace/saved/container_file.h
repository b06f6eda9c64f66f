#pragma once
// Finds the sections of a saved trace, `*.gputrace` (native/wire/container.h), also of one that was cut short.
#include <cstdint>
#include <string>
#include <vector>

#include "trace/error.h"
#include "trace/log/log_file.h"
#include "wire/container.h"

namespace gmt::trace {

/// Where a checkpoint's frame is.
struct CheckpointLocation {
  uint64_t offset;
  gmt_checkpoint_header header;
};

struct Container {
  std::string path;
  std::vector<LogSection> logs;                 ///< in the order of the file
  std::vector<CheckpointLocation> checkpoints;  ///< in the order of the file, which is that of their times
  std::string session_json;                     ///< empty where there is none
  bool cut = false;                             ///< the file ends before its table of sections, or inside a section
  uint64_t bytes = 0;                           ///< that are there
  uint64_t whole_bytes = 0;                     ///< that the file had once it was complete; 0: not known
};

/// Reads the table of sections; where that is missing or damaged, searches the file for logs. One sentence where the
/// file cannot be read, is no trace, is of a newer version, or holds nothing that could be read.
Result<Container> read_container(const std::string &path);

/// Whether the numbers of a checkpoint can be true in a section, or a file, of `bytes`.
bool sound(const gmt_checkpoint_header &header, uint64_t bytes);

/// A checkpoint's bytes; empty where they are damaged.
std::vector<std::byte> read_checkpoint(const std::string &path, const CheckpointLocation &place);

}  // namespace gmt::trace
