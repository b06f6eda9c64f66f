#include "trace/upgrade.h"

#include <cstring>

#include "wire/layout.h"

namespace gmt::trace {
namespace {

// Version 0 was never shipped; it keeps this path in use. It is version 1 without `simulated` and `lost`: those bytes
// held anything.
bool upgrade_0(std::vector<std::byte> &log) {
  if (log.size() < sizeof(gmt_file_header)) return false;
  gmt_file_header header;
  std::memcpy(&header, log.data(), sizeof header);
  header.simulated = 0;
  std::memset(header.lost, 0, sizeof header.lost);
  std::memcpy(log.data(), &header, sizeof header);
  return true;
}

constexpr UpgradeStep kSteps[] = {{0, upgrade_0}};

}  // namespace

std::span<const UpgradeStep> upgrade_steps() { return kSteps; }

Status upgrade(std::vector<std::byte> &log, uint32_t from, uint32_t to, std::span<const UpgradeStep> steps,
               const std::string &where) {
  for (uint32_t version = from; version < to; ++version) {
    const UpgradeStep *found = nullptr;
    for (const UpgradeStep &step : steps) {
      if (step.from == version) found = &step;
    }
    if (!found || log.size() < sizeof(gmt_file_header) || !found->apply(log)) {
      return Error{where + " has log version " + std::to_string(from) + ", which this GPU Memory Trace cannot read."};
    }
    uint32_t next = version + 1;
    std::memcpy(log.data() + offsetof(gmt_file_header, version), &next, sizeof next);
  }
  return std::nullopt;
}

}  // namespace gmt::trace
