
#include "model/ingest/events.h"
#include "model/query/questions.h"

namespace gmt::model {
namespace {

constexpr int32_t kCudaOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY (cuda.h)

Layer layer_of(uint8_t kind) {
  constexpr uint8_t kFirstDriverKind = 16;
  if (kind < kFirstDriverKind) return Layer::Tensor;
  return gmt_is_host(kind) ? Layer::Host : Layer::Driver;
}

bool ran_out_of_memory(uint8_t kind, const gmt_driver_detail *detail) {
  return kind == GMT_TENSOR_OOM || (kind & GMT_FAILED && detail && detail->result == kCudaOutOfMemory);
}

/// Looking at all live blocks takes long: of failures that come together the last one stands for all, of many one of the last. Which ones
/// come together does not depend on when they are read.
bool stands_for_all(const Context &context) {
  constexpr uint64_t kTogetherNs = 16'000'000;
  constexpr uint32_t kFew = 8, kMany = 64;
  FailureGroup &group = context.process.failures;
  const uint64_t number = context.event.time_ns / kTogetherNs;
  if (group.number != number) group = {number, 0};
  return ++group.failures <= kFew || group.failures % kMany == 0;
}

/// The one before it stands for none any more.
void replace_last(const Context &context, std::deque<OutOfMemory> &listed) {
  for (size_t i = listed.size(); context.process.failures.failures > 1 && i-- > kFirstSnapshots;) {
    if (listed[i].process == context.process.number && listed[i].snapshot) return listed[i].snapshot.reset();
  }
}

/// Only the first and the newest keep theirs.
void drop_older_snapshots(std::deque<OutOfMemory> &listed) {
  size_t kept = 0;
  for (size_t i = listed.size(); i-- > kFirstSnapshots;) {
    if (!listed[i].snapshot || ++kept <= kSnapshots - kFirstSnapshots) continue;
    return listed[i].snapshot.reset();
  }
}

void list(const Context &context, Layer layer, uint8_t device) {
  const uint32_t cell = cell_of(context, layer, device);
  const Accounts &accounts = context.accounts();
  const uint32_t process = context.process.number;
  auto &listed = context.all.out_of_memory;
  const bool first = ++context.all.out_of_memory_count <= kFirstSnapshots, last = stands_for_all(context);
  if (last && !first) replace_last(context, listed);
  const bool has_free = context.detail && context.detail->flags & GMT_DETAIL_FREE;
  listed.push_back({process, device_number(device), layer, context.event.bytes, context.event.time_ns,
                    accounts.site_of(cell), accounts.ledger_of(cell).live_bytes, context.event.thread,
                    has_free ? context.detail->offset : GMT_UNKNOWN, nullptr});
  if (first || last) {
    listed.back().snapshot = std::make_shared<MemorySnapshot>(memory_snapshot(context.all, process, layer, device));
    drop_older_snapshots(listed);
  }
  if (listed.size() > kOutOfMemory) listed.erase(listed.begin() + static_cast<std::ptrdiff_t>(kFirstSnapshots));
}

}  // namespace

void handle_failure(const Context &context) {
  const auto kind = static_cast<uint8_t>(context.event.kind & ~GMT_FAILED);
  const Layer layer = layer_of(kind);
  const uint8_t device = layer == Layer::Host ? static_cast<uint8_t>(GMT_DEVICE_NONE) : context.event.device;
  ++context.accounts().ledger(context.process.number, layer, device).failed;
  if (ran_out_of_memory(context.event.kind, context.detail)) list(context, layer, device);
}

}  // namespace gmt::model
