#include "addon/questions/queries_from_js.h"

#include "model/state/name_book.h"

namespace gmt::addon {
namespace {

model::Births births(Fields &fields) {
  const model::Births all;
  return {fields.time("bornFromNs").value_or(all.from_ns), fields.time("bornToNs").value_or(all.to_ns)};
}

std::optional<uint8_t> category(Fields &fields) {
  const auto category = fields.word_if<model::Category>("category");
  return category ? std::optional(static_cast<uint8_t>(*category)) : std::nullopt;
}

}  // namespace

std::optional<TimeSpan> time_span(const Napi::CallbackInfo &info) {
  if (info.Length() < 2 || info[1].IsUndefined()) return TimeSpan{};
  Fields fields(info, 1);
  const TimeSpan all;
  const TimeSpan span{fields.time("fromNs").value_or(all.from_ns), fields.time("untilNs").value_or(all.until_ns)};
  return fields.ok() ? std::optional(span) : std::nullopt;
}

void read(Fields &fields, model::SiteQuery &query) {
  query.layer = fields.word<model::Layer>("layer");
  query.group_by = fields.word<model::GroupBy>("groupBy");
  query.sort = fields.word_if<model::SiteSort>("sort").value_or(query.sort);
  query.descending = fields.flag("descending");
  query.filter = fields.text("filter");
  query.process = fields.choice("process").value_or(model::kAll);
  query.device = fields.choice("device");
  query.include_dead = fields.flag("includeDead");
  query.births = births(fields);
  query.category = category(fields);
  query.from = fields.whole("from");
  query.to = fields.whole("to");
}

void read(Fields &fields, model::AllocationQuery &query) {
  query.layer = fields.word_if<model::Layer>("layer");
  query.process = fields.choice("process").value_or(model::kAll);
  query.device = fields.choice("device");
  query.thread = fields.choice("thread");
  if (const auto site = fields.choice("site")) query.site = static_cast<uint32_t>(*site);
  query.category = category(fields);
  query.filter = fields.text("filter");
  query.births = births(fields);
  query.sort = fields.word_if<model::AllocationSort>("sort").value_or(query.sort);
  query.descending = fields.flag("descending");
  query.from = fields.whole("from");
  query.to = fields.whole("to");
}

void read(Fields &fields, model::SiteSeriesQuery &query) {
  query.process = fields.index("process");
  query.layer = fields.word<model::Layer>("layer");
  query.sites = fields.list("sites");
  query.from = fields.whole("from");
  query.to = fields.whole("to");
  query.points = fields.points();
}

void read(Fields &fields, model::PassQuery &query) {
  query.process = fields.index("process");
  query.from_ns = fields.whole("fromNs");
  query.to_ns = fields.whole("toNs");
  query.least_ns = fields.whole("leastNs", 0);
}

void read(Fields &fields, model::LedgerSeriesQuery &query) {
  query.process = fields.index("process");
  query.device = fields.choice("device").value_or(-1);
  query.points = fields.points();
}

void read(Fields &fields, DeviceQuery &query) {
  query.process = fields.index("process");
  query.device = fields.choice("device").value_or(-1);
}

void read(Fields &fields, model::SegmentQuery &query) {
  query.process = fields.index("process");
  query.device = fields.choice("device").value_or(-1);
  query.max_blocks = fields.whole("maxBlocks", query.max_blocks);
}

void read(Fields &fields, BlocksQuery &query) { query = {fields.index("process"), fields.addresses("addresses")}; }

void read(Fields &fields, AnswerQuery &query) { query = {fields.index("process"), fields.index("index")}; }

void read(Fields &fields, model::TimelineQuery &query) {
  query.series = fields.word<model::Series>("series");
  query.process = fields.choice("process").value_or(model::kAll);
  query.device = fields.choice("device");
  query.from_ns = fields.whole("fromNs");
  query.to_ns = fields.whole("toNs");
  query.buckets = fields.whole("buckets");
}

}  // namespace gmt::addon
