#pragma once
// Pools of a framework's caching allocator beside the common one, and which segments are theirs.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/state/types.h"
#include "trace/batch.h"

namespace gmt::model {

struct Pool {
  uint64_t owner = 0;  ///< with `number`: PyTorch's id of it; both 0 = the common pool
  uint64_t number = 0;
  PoolKind kind = PoolKind::Common;
  uint32_t makers = 0;  ///< captured graphs or MemPools that still have it
  std::string path;     ///< of one of these in the program
  void checkpoint(Archive &a) { a(owner, number, kind, makers, path); }
  std::string id() const { return std::to_string(owner) + ":" + std::to_string(number); }
  /// `pool 1:0 (captured graph: runner.graphs[...])`
  std::string label() const {
    if (kind == PoolKind::Common) return "common pool";
    if (kind == PoolKind::Private) return "private pool " + id();
    std::string text = kind == PoolKind::Graph ? "captured graph" : "MemPool";
    if (makers > 1) text = std::to_string(makers) + " " + text + "s";
    if (makers == 0) text += " that is gone";
    return "pool " + id() + " (" + text + (path.empty() ? "" : ": " + path) + ")";
  }
};

class PoolBook {
 public:
  void checkpoint(Archive &a) {
    for (PoolList *list : {&current_, &next_}) {
      a(list->pools, list->segments);
      a.hold(!list->pools.empty());
      for (auto &[segment, pool] : list->segments) a.hold(pool < list->pools.size());
    }
    a(listed_, listed_ns_, taken_);
  }
  /// A record of kind GMT_POOL, at that time.
  void apply(const trace::ModelRecord &record, uint64_t now_ns) {
    constexpr PoolKind kKinds[] = {PoolKind::Private, PoolKind::Graph, PoolKind::Mempool};
    const auto about = record.as<gmt_pool>();
    if (about.kind == GMT_POOL_NO_MORE) {
      current_ = std::exchange(next_, {});
      listed_ = true;
      listed_ns_ = now_ns;
      taken_ = false;
    }
    const uint64_t room = record.payload.size() - sizeof about;
    if (about.kind >= std::size(kKinds) || about.text_bytes > room || about.count > (room - about.text_bytes) / 8)
      return;
    const Pool pool{about.owner, about.number, kKinds[about.kind], about.makers,
                    record.payload.substr(sizeof about, about.text_bytes)};
    const auto same = [&](const Pool &one) { return one.owner == pool.owner && one.number == pool.number; };
    const auto found = std::ranges::find_if(next_.pools, same);
    const auto place = static_cast<uint32_t>(found - next_.pools.begin());
    if (found == next_.pools.end()) next_.pools.push_back(pool);
    for (uint32_t i = 0; i < about.count; ++i) {
      uint64_t address;
      std::memcpy(&address, record.payload.data() + sizeof about + about.text_bytes + i * sizeof address,
                  sizeof address);
      next_.segments[{static_cast<uint8_t>(about.device), address}] = place;
    }
  }
  /// Number of the pool of a segment that was taken then; kNone = not listed since.
  uint32_t find(uint8_t device, uint64_t begin, uint64_t end, uint64_t time_ns) const {
    if (!listed_ || time_ns > listed_ns_) return kNone;
    const auto next = current_.segments.lower_bound({device, begin});
    return next != current_.segments.end() && next->first.first == device && next->first.second < end ? next->second
                                                                                                      : 0;
  }
  bool listed() const { return listed_; }
  /// The driver gave memory, which is in no list yet.
  void take() { taken_ = true; }
  /// Until when it is known which pool has which memory; 0: never listed.
  uint64_t known_ns(uint64_t now_ns) const { return listed_ && !taken_ ? now_ns : listed_ns_; }
  /// The first is the common one.
  const std::vector<Pool> &pools() const { return current_.pools; }

 private:
  struct PoolList {
    std::vector<Pool> pools{Pool{}};
    std::map<std::pair<uint8_t, uint64_t>, uint32_t> segments;  ///< by device and address: number of its pool
  };
  PoolList current_, next_;
  bool listed_ = false;
  uint64_t listed_ns_ = 0;
  bool taken_ = false;  ///< since the newest list
};

}  // namespace gmt::model
