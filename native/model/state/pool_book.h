#pragma once
// Pools of a framework's caching allocator beside the common one, and which segments are theirs.
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
  std::string id() const;
  /// `captured graph runner.graphs[...] (1:0)`
  std::string label() const;
};

class PoolBook {
 public:
  void checkpoint(Archive &a);
  /// A record of kind GMT_POOL, at that time.
  void take(const trace::Said &said, uint64_t now_ns);
  /// Number of the pool of a segment that was taken then; kNone = nobody looked since.
  uint32_t find(uint8_t device, uint64_t begin, uint64_t end, uint64_t time_ns) const;
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
