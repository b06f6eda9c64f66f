#include "model/allocator/recorded_requests.h"

#include <algorithm>
#include <set>

namespace gmt::model {

void RequestCollector::add(const trace::Batch &batch) {
  if (batch.process != process_) return;
  for (const trace::Event &event : batch.events) {
    if (event.device != device_) continue;
    if (event.kind == GMT_RESERVED) known_reserved_bytes_ = event.bytes;
    if (event.kind == GMT_TENSOR_ALLOC) allocate(event);
    if (event.kind == GMT_TENSOR_FREE) free(event);
  }
}

void RequestCollector::allocate(const trace::Event &event) {
  const auto index = static_cast<uint32_t>(requests_.allocations.size());
  requests_.allocations.push_back({event.address, event.bytes, event.time_ns, 0});
  live_[event.address] = index;
  const bool more = known_reserved_bytes_ > reserved_bytes_;
  if (known_reserved_bytes_ < reserved_bytes_) requests_.calls.push_back({RecordedCall::kEmptyCache, false, 0, 0, event.time_ns});
  requests_.calls.push_back({RecordedCall::kAllocate, more, index, known_reserved_bytes_, event.time_ns});
  reserved_bytes_ = known_reserved_bytes_;
}

void RequestCollector::free(const trace::Event &event) {
  const auto found = live_.find(event.address);
  if (found == live_.end()) {
    ++requests_.unmatched_frees;
    return;
  }
  if (known_reserved_bytes_ < reserved_bytes_) requests_.calls.push_back({RecordedCall::kEmptyCache, false, 0, 0, event.time_ns});
  reserved_bytes_ = known_reserved_bytes_;
  requests_.calls.push_back({RecordedCall::kFree, false, found->second, reserved_bytes_, event.time_ns});
  live_.erase(found);
}

namespace {

/// Follows the recorded places and finds whose segments they lie in.
class PoolFinder {
 public:
  using Pool = CachingAllocator::Pool;
  /// Segments that cannot be of one pool, by their place in the order in which they were taken.
  using Apart = std::set<std::pair<uint32_t, uint32_t>>;

  PoolFinder(RecordedRequests &requests, const AllocatorSettings &settings, Apart &apart)
      : requests_(requests), settings_(settings), apart_(apart), allocator_(settings, [](uint64_t) { return uint64_t{0}; }) {}

  /// False: two segments turned out to be of different pools.
  bool run() {
    for (const RecordedCall &call : requests_.calls) {
      if (call.kind == RecordedCall::kFree) {
        allocator_.free(requests_.allocations[call.allocation].address);
      } else if (call.kind == RecordedCall::kAllocate) {
        if (!place(requests_.allocations[call.allocation])) return false;
      } else {
        forget_released();
      }
    }
    return true;
  }
  uint64_t unexplained() const { return unexplained_; }

 private:
  struct Segment {
    uint64_t bytes;
    Pool pool;
    uint32_t number;
  };
  Segment *segment_at(uint64_t address) {
    auto at = segments_.upper_bound(address);
    if (at == segments_.begin()) return nullptr;
    --at;
    return address < at->first + at->second.bytes ? &at->second : nullptr;
  }
  bool place(RecordedAllocation &one) {
    const bool small = one.bytes <= CachingAllocator::kSmallBytes;
    Segment *segment = segment_at(one.address);
    if (!segment) {
      const uint64_t bytes = CachingAllocator::segment_bytes(one.bytes);
      const Segment fresh{bytes, pool_of_new(one.bytes, small), count_++};
      members_[2 * fresh.pool + small].push_back(fresh.number);
      segment = &segments_.insert_or_assign(one.address, fresh).first->second;
      allocator_.add_segment(fresh.pool, {one.address, bytes}, small);
    } else if (const auto best = allocator_.best_fit(segment->pool, one.bytes); best && best->address != one.address) {
      const Segment *other = segment_at(best->address);
      if (other && other != segment && apart_.size() < kMostApart &&
          apart_.insert(std::minmax(other->number, segment->number)).second)
        return false;
      ++unexplained_;
    }
    one.pool = segment->pool;
    if (!allocator_.allocate_at(one.address, one.bytes)) ++unexplained_;
    return true;
  }
  /// The pool that was used last of those that had no block for it.
  Pool pool_of_new(uint64_t bytes, bool small) {
    for (Pool pool = 0; pool < kMostPools; ++pool) {
      const std::vector<uint32_t> &members = members_[2 * pool + small];
      const auto is_apart = [&](uint32_t number) { return apart_.contains(std::minmax(number, count_)); };
      if (!allocator_.best_fit(pool, bytes) && std::ranges::none_of(members, is_apart)) return pool;
    }
    return kMostPools;
  }
  void forget_released() {
    allocator_.empty_cache();
    std::map<uint64_t, Segment> left;
    for (const CachingAllocator::Range &range : allocator_.segments()) {
      if (const auto found = segments_.find(range.address); found != segments_.end()) left.insert(*found);
    }
    segments_ = std::move(left);
  }

  static constexpr size_t kMostApart = 256;
  static constexpr Pool kMostPools = 64;
  RecordedRequests &requests_;
  AllocatorSettings settings_;
  Apart &apart_;
  CachingAllocator allocator_;
  std::map<uint64_t, Segment> segments_;  ///< by address
  std::unordered_map<uint64_t, std::vector<uint32_t>> members_;
  uint32_t count_ = 0;
  uint64_t unexplained_ = 0;
};

}  // namespace

uint64_t find_pools(RecordedRequests &requests, const AllocatorSettings &settings) {
  PoolFinder::Apart apart;
  while (true) {
    PoolFinder finder(requests, settings, apart);
    if (finder.run()) return finder.unexplained();
  }
}

}  // namespace gmt::model
