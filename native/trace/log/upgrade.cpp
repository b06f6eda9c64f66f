#include "trace/log/upgrade.h"

#include <algorithm>
#include <cstring>

#include "wire/layout.h"

namespace gmt::trace {
namespace {

/// Version 1 had a forward thread of 64 bits in GMT_AUTOGRAD, and four unused bytes behind the role:
///
///   1 | sequence 8 | thread 8        | role 4 | 0 4 |
///   2 | sequence 8 | thread 4 role 4 |
void shorten_autograd(gmt_event *slot) {
  struct {
    uint64_t sequence, thread;
    uint32_t role;
  } old;
  auto *payload = reinterpret_cast<std::byte *>(slot) + offsetof(gmt_local, payload);
  std::memcpy(&old, payload, sizeof old.sequence + sizeof old.thread + sizeof old.role);
  const gmt_autograd state{old.sequence, static_cast<uint32_t>(old.thread), old.role};
  std::memcpy(payload, &state, sizeof state);
}

/// Bytes that are no record end the chunk: a reader finds the damage again and says so.
void upgrade_chunk_1(std::span<std::byte> chunk) {
  if (chunk.size() < sizeof(gmt_chunk_header)) return;
  auto *slots = reinterpret_cast<gmt_event *>(chunk.data() + sizeof(gmt_chunk_header));
  const uint64_t count = (chunk.size() - sizeof(gmt_chunk_header)) / GMT_SLOT_BYTES;
  for (uint64_t i = 0; i < count && slots[i].commit != 0;) {
    gmt_local local;
    std::memcpy(&local, &slots[i], sizeof local);
    if (!(local.commit & GMT_LOCAL_BIT)) {
      i++;
      continue;
    }
    if (local.slots == 0 || i + local.slots > count) return;
    if (local.kind == GMT_AUTOGRAD && local.slots == 2) shorten_autograd(&slots[i]);
    i += local.slots;
  }
}

bool upgrade_1(std::vector<std::byte> &log) {
  const std::span<std::byte> all(log);
  for (size_t at = GMT_FILE_HEADER_BYTES; at < all.size(); at += GMT_CHUNK_BYTES)
    upgrade_chunk_1(all.subspan(at, std::min<size_t>(GMT_CHUNK_BYTES, all.size() - at)));
  return true;
}

constexpr UpgradeStep kSteps[] = {{1, upgrade_1}};

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
