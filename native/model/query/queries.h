#pragma once
// Questions and answers of the model; extension/protocol/trace.ts says what each field means.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/query/rows.gen.h"
#include "model/query/step_queries.h"
#include "model/state/names.h"
#include "model/state/types.h"

namespace gmt::model {

constexpr int32_t kAll = -1;

/// When blocks were allocated: [from_ns, to_ns).
struct Births {
  uint64_t from_ns = 0;
  uint64_t to_ns = ~0ull;
  bool all() const { return from_ns == 0 && to_ns == ~0ull; }
  bool hold(uint64_t time_ns) const { return static_cast<bool>((time_ns >= from_ns) & (time_ns < to_ns)); }
};

struct SiteQuery {
  Layer layer = Layer::Tensor;
  GroupBy group_by = GroupBy::Site;
  SiteSort sort = SiteSort::LiveBytes;
  bool descending = true;
  std::string filter;
  int32_t process = kAll;
  std::optional<int32_t> device;  ///< -1 = host
  bool include_dead = false;
  Births births;
  std::optional<uint8_t> category;  ///< of the framework's live blocks only those for this count
  size_t from = 0;
  size_t to = 100;
};

struct SiteDetail {
  uint32_t id;
  uint64_t key;
  Layer layer;
  LineSource source;
  Pass pass;
  Stack stack;
  std::string library;
};

struct AllocationQuery {
  std::optional<Layer> layer;
  int32_t process = kAll;
  std::optional<int32_t> device;
  std::optional<int32_t> thread;
  std::optional<uint32_t> site;
  std::optional<uint8_t> category;
  std::string filter;
  Births births;
  AllocationSort sort = AllocationSort::Bytes;
  bool descending = true;
  size_t from = 0;
  size_t to = 100;
};

struct TimelineQuery {
  Series series = Series::Tensor;
  int32_t process = kAll;
  std::optional<int32_t> device;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  size_t buckets = 1000;
};

struct OutOfMemory {
  uint32_t process;
  int32_t device;
  Layer layer;
  uint64_t requested_bytes;
  uint64_t time_ns;
  uint32_t site;
  int64_t live_bytes;
  uint32_t thread;
  std::shared_ptr<const MemorySnapshot> snapshot;  ///< of the newest ones
  void checkpoint(Archive &a) {
    a(process, device, layer, requested_bytes, time_ns, live_bytes, thread, snapshot);
    row(a, kSiteRows, site);
  }
};

}  // namespace gmt::model
