#pragma once
// Questions as JavaScript puts them. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include "addon/questions/query_fields.h"
#include "model/query/questions.gen.h"

namespace gmt::addon {

inline void read(Fields &fields, model::SiteQuery &query) {
  query.layer = fields.word<model::Layer>("layer");
  query.group_by = fields.word<model::GroupBy>("groupBy");
  fields.word_if<model::SiteSort>("sort", query.sort);
  query.descending = fields.flag("descending");
  query.filter = fields.text("filter");
  query.process = fields.choice("process").value_or(-1);
  query.device = fields.choice("device");
  query.include_dead = fields.flag("includeDead");
  query.births.from_ns = fields.whole("bornFromNs", query.births.from_ns);
  query.births.to_ns = fields.whole("bornToNs", query.births.to_ns);
  fields.word_if<model::Category>("category", query.category);
  query.from = fields.whole("from");
  query.to = fields.whole("to");
}

inline void read(Fields &fields, model::AllocationQuery &query) {
  fields.word_if<model::Layer>("layer", query.layer);
  query.process = fields.choice("process").value_or(-1);
  query.device = fields.choice("device");
  query.thread = fields.choice("thread");
  query.site = fields.choice("site");
  query.address = fields.text("address");
  query.filter = fields.text("filter");
  query.births.from_ns = fields.whole("bornFromNs", query.births.from_ns);
  query.births.to_ns = fields.whole("bornToNs", query.births.to_ns);
  fields.word_if<model::AllocationSort>("sort", query.sort);
  query.descending = fields.flag("descending");
  query.from = fields.whole("from");
  query.to = fields.whole("to");
}

inline void read(Fields &fields, model::TimelineQuery &query) {
  query.series = fields.word<model::Series>("series");
  query.process = fields.choice("process").value_or(-1);
  query.device = fields.choice("device");
  query.from_ns = fields.whole("fromNs");
  query.to_ns = fields.whole("toNs");
  query.buckets = fields.whole("buckets");
}

inline void read(Fields &fields, model::SiteSeriesQuery &query) {
  query.process = fields.index("process");
  query.layer = fields.word<model::Layer>("layer");
  query.sites = fields.list("sites");
  query.from = fields.whole("from");
  query.to = fields.whole("to");
  query.points = fields.points("points");
}

inline void read(Fields &fields, model::LedgerSeriesQuery &query) {
  query.process = fields.index("process");
  query.device = fields.choice("device").value_or(-1);
  query.points = fields.points("points");
}

inline void read(Fields &fields, model::PassQuery &query) {
  query.process = fields.index("process");
  query.from_ns = fields.whole("fromNs");
  query.to_ns = fields.whole("toNs");
  query.least_ns = fields.whole("leastNs", query.least_ns);
}

inline void read(Fields &fields, model::SegmentQuery &query) {
  query.process = fields.index("process");
  query.device = fields.choice("device").value_or(-1);
  query.max_blocks = fields.whole("maxBlocks", query.max_blocks);
}

inline void read(Fields &fields, model::DeviceQuery &query) {
  query.process = fields.index("process");
  query.device = fields.choice("device").value_or(-1);
}

inline void read(Fields &fields, model::BlocksQuery &query) {
  query.process = fields.index("process");
  query.addresses = fields.addresses("addresses");
}

inline void read(Fields &fields, model::AnswerQuery &query) {
  query.process = fields.index("process");
  query.index = fields.index("index");
}

}  // namespace gmt::addon
