#include "model/allocator/replay.h"

#include <algorithm>
#include <utility>

namespace gmt::model {

Replay replay(std::span<const AllocatorCall> calls, const AllocatorSettings &settings, const RecordedPlaces &places) {
  constexpr uint64_t kTop = 1ull << 52;  // far above all that a GPU has
  constexpr uint64_t kNowhere = ~0ull;
  uint64_t recorded = 0;
  uint64_t lowest = kTop;
  const CachingAllocator *made = nullptr;
  CachingAllocator allocator(settings, [&](uint64_t bytes) {
    if (recorded != 0 && !made->holds(recorded)) return recorded;
    return lowest -= bytes;  // as the driver does: of free blocks of one size, PyTorch takes the lowest one
  });
  made = &allocator;
  uint32_t count = 0;
  for (const AllocatorCall &call : calls) count = std::max(count, call.allocation + 1);
  for (const RecordedPlaces::Segment &one : places.segments)
    allocator.add_segment(one.pool, {one.address, one.bytes}, CachingAllocator::is_small_segment(one.bytes));
  std::vector<uint64_t> lies(count, kNowhere);
  Replay out;
  out.reserved_bytes.reserve(calls.size());
  for (size_t at = 0; at < calls.size() && !out.failed_call; ++at) {
    const AllocatorCall &call = calls[at];
    if (call.kind == AllocatorCall::kAllocate) {
      recorded = call.allocation < places.addresses.size() ? places.addresses[call.allocation] : 0;
      if (at < places.earlier_calls &&
          allocator.allocate_at(recorded, call.bytes) != CachingAllocator::Placed::kNowhere)
        lies[call.allocation] = recorded;
      else if (const auto got = allocator.allocate(call.pool, call.bytes))
        lies[call.allocation] = got->address;
      else
        out.failed_call = at;
    } else if (call.kind == AllocatorCall::kFree) {
      if (const uint64_t place = std::exchange(lies[call.allocation], kNowhere); place != kNowhere)
        allocator.free(place);
    } else {
      allocator.empty_cache();
    }
    out.reserved_bytes.push_back(allocator.reserved_bytes());
    out.reserved_peak_bytes = std::max(out.reserved_peak_bytes, allocator.reserved_bytes());
    if (allocator.allocated_bytes() > out.allocated_peak_bytes) {
      out.allocated_peak_bytes = allocator.allocated_bytes();
      out.allocated_peak_call = at;
    }
  }
  out.retries = allocator.retries();
  return out;
}

}  // namespace gmt::model
