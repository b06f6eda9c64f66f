#pragma once
// The command line.
#include <cstdint>
#include <string>
#include <vector>

#include "uprobe/run/output_line.h"

namespace gmt::uprobe {

struct AttachOptions {
  uint32_t pid = 0;
  std::string directory;
  bool children = false;
  bool stacks = true;
  bool native_stacks = false;
  bool autograd = true;
  bool wait_libraries = false;
  bool perf_probes = false;
  uint64_t ring_bytes = 64 << 20;
  uint64_t budget_bytes = 8ull << 30;
  std::vector<uint64_t> earlier_bytes;  ///< of each GPU on which the program has memory; empty: not known
};

enum class Command { kAttach, kSelfTest, kHelp, kVersion };
struct Options {
  Command command = Command::kHelp;
  AttachOptions attach;
};

extern const char kHelp[];

/// A problem where the words make no sense.
Problem parse_options(int count, char **words, Options *out);

}  // namespace gmt::uprobe
