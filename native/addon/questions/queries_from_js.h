#pragma once
// Questions as JavaScript puts them, read into the model's. A value that cannot be read leaves a TypeError
// pending in the environment; `Fields::ok()` is false then.
#include <napi.h>

#include <optional>

#include "addon/questions/query_fields.h"
#include "model/query/queries.h"
#include "model/query/segment_map.h"

namespace gmt::addon {

/// Of a session: what lies in [from_ns, until_ns].
struct TimeSpan {
  uint64_t from_ns = 0;
  uint64_t until_ns = ~0ull;
};
/// The options that follow a path: `{ fromNs?, untilNs? }`. Nothing: they cannot be read.
std::optional<TimeSpan> time_span(const Napi::CallbackInfo &info);

/// Of one device of a process.
struct DeviceQuery {
  uint32_t process = 0;
  int32_t device = 0;
};
struct BlocksQuery {
  uint32_t process = 0;
  std::vector<uint64_t> addresses;
};
struct AnswerQuery {
  uint32_t process = 0;
  uint32_t index = 0;
};

void read(Fields &fields, model::SiteQuery &query);
void read(Fields &fields, model::AllocationQuery &query);
void read(Fields &fields, model::SiteSeriesQuery &query);
void read(Fields &fields, model::PassQuery &query);
void read(Fields &fields, model::LedgerSeriesQuery &query);
void read(Fields &fields, model::SegmentQuery &query);
void read(Fields &fields, DeviceQuery &query);
void read(Fields &fields, BlocksQuery &query);
void read(Fields &fields, AnswerQuery &query);
void read(Fields &fields, model::TimelineQuery &query);

}  // namespace gmt::addon
