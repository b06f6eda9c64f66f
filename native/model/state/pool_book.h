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
  /// `captured graph runner.graphs[...] (1:0)`
  std::string label() const {
    if (kind == PoolKind::Common) return "common pool";
    std::string text = kind == PoolKind::Private ? "private pool"
                       : kind == PoolKind::Graph ? "captured graph"
                                                 : "MemPool";
    if (makers > 1) text = std::to_string(makers) + " " + text + "s";
    if (kind != PoolKind::Private && makers == 0) text += " that is gone";
    return text + (path.empty() ? "" : " " + path) + " (" + id() + ")";
  }
};

class PoolBook {
 public:
  void checkpoint(Archive &a) {
    for (Look *look : {&known_, &next_}) {
      a(look->pools, look->segments);
      a.hold(!look->pools.empty());
      for (auto &[segment, pool] : look->segments) a.hold(pool < look->pools.size());
    }
    a(looked_, looked_ns_);
  }
  /// A record of kind GMT_POOL, at that time.
  void take(const trace::Said &said, uint64_t now_ns) {
    constexpr PoolKind kKinds[] = {PoolKind::Private, PoolKind::Graph, PoolKind::Mempool};
    const auto about = said.as<gmt_pool>();
    if (about.kind == GMT_POOL_NO_MORE) {
      known_ = std::exchange(next_, {});
      looked_ = true;
      looked_ns_ = now_ns;
    }
    const uint64_t room = said.payload.size() - sizeof about;
    if (about.kind >= std::size(kKinds) || about.text_bytes > room || about.count > (room - about.text_bytes) / 8)
      return;
    const Pool pool{about.owner, about.number, kKinds[about.kind], about.makers,
                    said.payload.substr(sizeof about, about.text_bytes)};
    const auto same = [&](const Pool &one) { return one.owner == pool.owner && one.number == pool.number; };
    const auto found = std::ranges::find_if(next_.pools, same);
    const auto place = static_cast<uint32_t>(found - next_.pools.begin());
    if (found == next_.pools.end()) next_.pools.push_back(pool);
    for (uint32_t i = 0; i < about.count; ++i) {
      uint64_t address;
      std::memcpy(&address, said.payload.data() + sizeof about + about.text_bytes + i * sizeof address, sizeof address);
      next_.segments[{static_cast<uint8_t>(about.device), address}] = place;
    }
  }
  /// Number of the pool of a segment that was taken then; kNone = nobody looked since.
  uint32_t find(uint8_t device, uint64_t begin, uint64_t end, uint64_t time_ns) const {
    if (!looked_ || time_ns > looked_ns_) return kNone;
    const auto next = known_.segments.lower_bound({device, begin});
    return next != known_.segments.end() && next->first.first == device && next->first.second < end ? next->second : 0;
  }
  bool looked() const { return looked_; }
  /// The first is the common one.
  const std::vector<Pool> &pools() const { return known_.pools; }

 private:
  struct Look {
    std::vector<Pool> pools{Pool{}};
    std::map<std::pair<uint8_t, uint64_t>, uint32_t> segments;  ///< by device and address: number of its pool
  };
  Look known_, next_;
  bool looked_ = false;
  uint64_t looked_ns_ = 0;
};

}  // namespace gmt::model
