#pragma once
// Logs of older versions: a table of steps, each from one version to the next.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/error.h"

namespace gmt::trace {

/// Changes the bytes of a whole log of version `from` in place into one of version `from + 1`. The bytes hold at least
/// the file header. False: they cannot be one.
struct UpgradeStep {
  uint32_t from;
  bool (*apply)(std::vector<std::byte> &log);
};

/// The steps of this program.
std::span<const UpgradeStep> upgrade_steps();

/// Takes the log to version `to`, one step after another, and writes each version into its header. An error names
/// `where`, the file.
Status upgrade(std::vector<std::byte> &log, uint32_t from, uint32_t to, std::span<const UpgradeStep> steps,
               const std::string &where);

}  // namespace gmt::trace
