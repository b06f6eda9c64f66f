#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "model/allocator/replay.h"

namespace gmt::model {
namespace {

/// Follows the recorded places and finds whose segments they lie in.
class PoolFinder {
 public:
  using Pool = CachingAllocator::Pool;
  /// Segments that cannot be of one pool, by their place in the order in which they were taken.
  using Apart = std::set<std::pair<uint32_t, uint32_t>>;

  PoolFinder(std::span<AllocatorCall> calls, const AllocatorSettings &settings, std::span<const uint64_t> addresses,
             Apart &apart)
      : calls_(calls),
        addresses_(addresses),
        apart_(apart),
        allocator_(settings, [](uint64_t) { return uint64_t{0}; }) {}

  /// False: two segments turned out to be of different pools.
  bool run() {
    for (AllocatorCall &call : calls_) {
      if (call.kind == AllocatorCall::kFree)
        allocator_.free(addresses_[call.allocation]);
      else if (call.kind == AllocatorCall::kEmptyCache)
        forget_released();
      else if (!place(call, addresses_[call.allocation]))
        return false;
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
  bool place(AllocatorCall &call, uint64_t address) {
    const bool small = call.bytes <= CachingAllocator::kSmallBytes;
    Segment *segment = segment_at(address);
    if (!segment) {
      const uint64_t bytes = CachingAllocator::segment_bytes(call.bytes);
      const Segment fresh{bytes, pool_of_new(call.bytes, small), count_++};
      members_[2 * fresh.pool + small].push_back(fresh.number);
      segment = &segments_.insert_or_assign(address, fresh).first->second;
      allocator_.add_segment(fresh.pool, {address, bytes}, small);
    } else if (const auto best = allocator_.best_fit(segment->pool, call.bytes); best && best->address != address) {
      const Segment *other = segment_at(best->address);
      if (other && other != segment && apart_.size() < kMostApart &&
          apart_.insert(std::minmax(other->number, segment->number)).second)
        return false;
      ++unexplained_;
    }
    call.pool = segment->pool;
    const auto placed = allocator_.allocate_at(address, call.bytes);
    if (placed == CachingAllocator::Placed::kNowhere) ++unexplained_;
    call.exact = placed == CachingAllocator::Placed::kCut;
    return true;
  }
  /// The first of those that had no free block for it.
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
  std::span<AllocatorCall> calls_;
  std::span<const uint64_t> addresses_;
  Apart &apart_;
  CachingAllocator allocator_;
  std::map<uint64_t, Segment> segments_;  ///< by address
  std::unordered_map<uint64_t, std::vector<uint32_t>> members_;
  uint32_t count_ = 0;
  uint64_t unexplained_ = 0;
};

}  // namespace

uint64_t find_pools(std::span<AllocatorCall> calls, const AllocatorSettings &settings,
                    std::span<const uint64_t> addresses) {
  PoolFinder::Apart apart;
  while (true) {
    PoolFinder finder(calls, settings, addresses, apart);
    if (finder.run()) return finder.unexplained();
  }
}

}  // namespace gmt::model
