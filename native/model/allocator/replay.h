#pragma once
// What a program had from PyTorch's allocator of one GPU, given to the model of it again: under other settings, with other sizes.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/allocator/torch_allocator.h"

namespace gmt::model {

struct AllocatorCall {
  enum Kind : uint8_t { kAllocate, kFree, kEmptyCache };
  Kind kind;
  uint32_t allocation;          ///< its number, of one that is allocated once and freed at most once
  uint64_t bytes;               ///< kAllocate
  CachingAllocator::Pool pool;  ///< kAllocate
  bool exact =
      false;  ///< kAllocate, once its pool was found: `bytes` is what was requested, not a block that is not worth a cut
};

/// Where memory lay when a run was recorded.
struct RecordedPlaces {
  struct Segment {
    uint64_t address, bytes;
    CachingAllocator::Pool pool;
  };
  std::vector<uint64_t> addresses;  ///< by allocation; empty: nobody knows
  std::vector<Segment> segments;    ///< that were there before the first call
  size_t earlier_calls = 0;         ///< the first calls: of what was there before, in these segments
};

struct Replay {
  std::vector<uint64_t> reserved_bytes;  ///< after each call
  uint64_t reserved_peak_bytes = 0;
  uint64_t allocated_peak_bytes = 0;
  size_t allocated_peak_call = 0;
  uint64_t retries = 0;               ///< the cache was given back because a segment did not fit
  std::optional<size_t> failed_call;  ///< memory ran out there; nothing behind it was replayed
};

/// Without places new segments lie one behind the other. Of several free blocks that fit equally PyTorch takes the one with the lowest
/// address.
Replay replay(std::span<const AllocatorCall> calls, const AllocatorSettings &settings, const RecordedPlaces &places);

/// Streams and pools of graphs take no part in a recorded call. Which of them served it shows in where its block lies: a free block of
/// the same pool that fits better would have been taken. Gives each call and each earlier segment its pool; the number of calls whose
/// place no pool explains. Not for expandable segments.
uint64_t find_pools(std::span<AllocatorCall> calls, const AllocatorSettings &settings, RecordedPlaces &places);

}  // namespace gmt::model
