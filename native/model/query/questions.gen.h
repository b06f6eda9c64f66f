#pragma once
// Questions of the model. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "model/state/types.h"

namespace gmt::model {

struct SiteQuery {
  Layer layer = {};
  GroupBy group_by = {};
  SiteSort sort = {};
  bool descending = true;
  /// Words, all must match, capitals or not: text in file, function, thread name, device, or in the name or category of a live block of the site; `>10MB`, `<=1GB` on the row’s live bytes; `age>5steps`, `age<=2`: only blocks of that age count, as with bornFromNs. Empty = all.
  std::string filter = {};
  int32_t process = kAll;
  std::optional<int32_t> device = {};
  /// Also sites that hold nothing now.
  bool include_dead = {};
  Births births = {};
  /// Only tensors that are for this count, as with bornFromNs.
  std::optional<uint8_t> category = {};
  /// Window of rows [from, to).
  size_t from = {};
  size_t to = 100;
};

struct AllocationQuery {
  std::optional<Layer> layer = {};
  int32_t process = kAll;
  std::optional<int32_t> device = {};
  std::optional<int32_t> thread = {};
  std::optional<uint32_t> site = {};
  /// The block there alone; `0x…` or decimal.
  std::string address = {};
  /// As SiteQuery.filter, but about one block: its bytes, its age, its name and category.
  std::string filter = {};
  Births births = {};
  AllocationSort sort = {};
  bool descending = true;
  /// Window of rows [from, to).
  size_t from = {};
  size_t to = 100;
};

struct TimelineQuery {
  Series series = {};
  int32_t process = kAll;
  std::optional<int32_t> device = {};
  size_t from_ns = {};
  size_t to_ns = {};
  /// At most this many buckets come back, fewer where there are fewer changes.
  size_t buckets = 1000;
};

struct SiteSeriesQuery {
  uint32_t process = {};
  Layer layer = {};
  /// Only these, in this order; absent: all that ever had an event, most live bytes at the end of the last step first.
  std::optional<std::vector<uint32_t>> sites = {};
  /// Window of rows [from, to).
  size_t from = {};
  size_t to = 100;
  /// At most this many points an axis (16 to 2048); steps are merged further.
  size_t points = 256;
};

struct LedgerSeriesQuery {
  uint32_t process = {};
  int32_t device = {};
  /// At most this many points an axis (16 to 2048); steps are merged further.
  size_t points = 256;
};

struct PassQuery {
  uint32_t process = {};
  size_t from_ns = {};
  size_t to_ns = {};
  /// Shorter ranges are left out.
  size_t least_ns = {};
};

struct SegmentQuery {
  uint32_t process = {};
  int32_t device = {};
  /// At most so many blocks come back, the biggest; absent: 100,000.
  size_t max_blocks = 100000;
};

struct DeviceQuery {
  uint32_t process = {};
  int32_t device = {};
};

struct BlocksQuery {
  uint32_t process = {};
  std::vector<uint64_t> addresses = {};
};

struct AnswerQuery {
  uint32_t process = {};
  uint32_t index = {};
};

}  // namespace gmt::model
