#pragma once
// Questions as JavaScript puts them, read into the model's. On a value that cannot be read they leave a TypeError
// pending in the environment and return nothing.
#include <napi.h>

#include <optional>

#include "model/query/queries.h"
#include "model/query/segment_map.h"

namespace gmt::addon {

/// Of a session: what lies in [from_ns, until_ns].
struct TimeSpan {
  uint64_t from_ns = 0;
  uint64_t until_ns = ~0ull;
};
/// The options that follow a path: `{ fromNs?, untilNs? }`, or nothing.
std::optional<TimeSpan> time_span(const Napi::CallbackInfo &info);

std::optional<model::SiteQuery> site_query(const Napi::CallbackInfo &info);
std::optional<model::AllocationQuery> allocation_query(const Napi::CallbackInfo &info);
std::optional<model::SiteSeriesQuery> site_series_query(const Napi::CallbackInfo &info);
std::optional<model::PassQuery> pass_query(const Napi::CallbackInfo &info);
std::optional<model::LedgerSeriesQuery> ledger_series_query(const Napi::CallbackInfo &info);
std::optional<model::SegmentQuery> segment_query(const Napi::CallbackInfo &info);
/// `{ process, device }`.
std::optional<model::LedgerSeriesQuery> device_query(const Napi::CallbackInfo &info);

struct BlocksQuery {
  uint32_t process = 0;
  std::vector<uint64_t> addresses;
};
std::optional<BlocksQuery> blocks_query(const Napi::CallbackInfo &info);

struct AnswerQuery {
  uint32_t process = 0;
  uint32_t index = 0;
};
std::optional<AnswerQuery> answer_query(const Napi::CallbackInfo &info);
std::optional<model::TimelineQuery> timeline_query(const Napi::CallbackInfo &info);

}  // namespace gmt::addon
