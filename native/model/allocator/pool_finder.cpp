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

  PoolFinder(std::span<AllocatorCall> calls, const AllocatorSettings &settings, RecordedPlaces &places, Apart &apart)
      : calls_(calls), places_(places), apart_(apart), allocator_(settings, [](uint64_t) { return uint64_t{0}; }) {}

  /// False: two segments turned out to be of different pools.
  bool run() {
    for (RecordedPlaces::Segment &one : places_.segments) {
      const bool small = CachingAllocator::is_small_segment(one.bytes);
      one.pool = add_segment(one.address, one.bytes, small, [](Pool) { return true; }).pool;
    }
    for (size_t at = 0; at < calls_.size(); ++at) {
      AllocatorCall &call = calls_[at];
      if (call.kind == AllocatorCall::kFree)
        allocator_.free(places_.addresses[call.allocation]);
      else if (call.kind == AllocatorCall::kEmptyCache)
        forget_released();
      else if (!place(call, places_.addresses[call.allocation], at < places_.earlier_calls))
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
  bool place(AllocatorCall &call, uint64_t address, bool earlier) {
    const uint64_t requested = allocator_.rounded(call.bytes);
    const bool small = requested <= CachingAllocator::kSmallBytes;
    Segment *segment = segment_at(address);
    if (!segment) {
      segment = &add_segment(address, CachingAllocator::segment_bytes(requested), small,
                             [&](Pool pool) { return !allocator_.best_fit(pool, requested); });
    } else if (const auto best = allocator_.best_fit(segment->pool, requested);
               !earlier && best && best->address != address) {
      const Segment *other = segment_at(best->address);
      if (other && other != segment && apart_.size() < kMostApart &&
          apart_.insert(std::minmax(other->number, segment->number)).second)
        return false;
      ++unexplained_;
    }
    call.pool = segment->pool;
    const auto placed = allocator_.allocate_at(address, requested);
    if (placed == CachingAllocator::Placed::kNowhere) ++unexplained_;
    call.exact = placed == CachingAllocator::Placed::kCut;
    return true;
  }
  /// Of the first pool that may have it.
  template <typename May>
  Segment &add_segment(uint64_t address, uint64_t bytes, bool small, May may) {
    const auto is_apart = [&](uint32_t number) { return apart_.contains(std::minmax(number, count_)); };
    Pool pool = 0;
    while (pool < kMostPools && (!may(pool) || std::ranges::any_of(members_[2 * pool + small], is_apart))) ++pool;
    members_[2 * pool + small].push_back(count_);
    allocator_.add_segment(pool, {address, bytes}, small);
    return segments_.insert_or_assign(address, Segment{bytes, pool, count_++}).first->second;
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
  RecordedPlaces &places_;
  Apart &apart_;
  CachingAllocator allocator_;
  std::map<uint64_t, Segment> segments_;  ///< by address
  std::unordered_map<uint64_t, std::vector<uint32_t>> members_;
  uint32_t count_ = 0;
  uint64_t unexplained_ = 0;
};

}  // namespace

uint64_t find_pools(std::span<AllocatorCall> calls, const AllocatorSettings &settings, RecordedPlaces &places) {
  PoolFinder::Apart apart;
  while (true) {
    PoolFinder finder(calls, settings, places, apart);
    if (finder.run()) return finder.unexplained();
  }
}

}  // namespace gmt::model
