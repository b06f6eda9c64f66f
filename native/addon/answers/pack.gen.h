#pragma once
// Answers as the objects that JavaScript gets. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include "addon/answers/answers.h"
#include "addon/answers/columns.h"

namespace gmt::addon {

inline Napi::Object pack(Napi::Env env, const model::SiteRows &answer) {
  const auto &rows = answer.rows;
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(answer.revision));
  object.Set("total", static_cast<double>(answer.total));
  object.Set("rows", static_cast<double>(rows.size()));
  object.Set("sumLiveBytes", static_cast<double>(answer.sum_live_bytes));
  object.Set("sumLiveCount", static_cast<double>(answer.sum_live_count));
  object.Set("id", column<uint32_t>(env, rows, [](const auto &row) { return row.id; }));
  object.Set("key", keys(env, rows, [](const auto &row) { return row.key; }));
  object.Set("liveBytes", column<double>(env, rows, [](const auto &row) { return row.live_bytes; }));
  object.Set("liveCount", column<double>(env, rows, [](const auto &row) { return row.live_count; }));
  object.Set("meanBytes", column<double>(env, rows, [](const auto &row) { return row.mean_bytes; }));
  object.Set("peakBytes", column<double>(env, rows, [](const auto &row) { return row.has_history ? static_cast<double>(row.peak_bytes) : kNotKnown; }));
  object.Set("allocations", column<double>(env, rows, [](const auto &row) { return row.has_history ? static_cast<double>(row.allocations) : kNotKnown; }));
  object.Set("frees", column<double>(env, rows, [](const auto &row) { return row.has_history ? static_cast<double>(row.frees) : kNotKnown; }));
  object.Set("allocatedBytes", column<double>(env, rows, [](const auto &row) { return row.has_history ? static_cast<double>(row.allocated_bytes) : kNotKnown; }));
  object.Set("growth", column<double>(env, rows, [](const auto &row) { return row.has_history ? static_cast<double>(row.growth) : kNotKnown; }));
  object.Set("spark", columns<16>(env, rows, [](const auto &row) { return row.has_history ? row.spark : nullptr; }));
  object.Set("thread", column<int32_t>(env, rows, [](const auto &row) { return row.thread; }));
  object.Set("process", column<int32_t>(env, rows, [](const auto &row) { return row.process; }));
  object.Set("device", column<int32_t>(env, rows, [](const auto &row) { return row.device; }));
  object.Set("file", texts(env, rows, [](const auto &row) -> const auto & { return row.file; }));
  object.Set("line", column<uint32_t>(env, rows, [](const auto &row) { return row.line; }));
  object.Set("function", texts(env, rows, [](const auto &row) -> const auto & { return row.function; }));
  object.Set("source", words<model::LineSource>(env, rows, [](const auto &row) { return row.source; }));
  object.Set("library", texts(env, rows, [](const auto &row) -> const auto & { return row.library; }));
  object.Set("label", texts(env, rows, [](const auto &row) -> const auto & { return row.label; }));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::AllocationRows &answer) {
  const auto &rows = answer.rows;
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(answer.revision));
  object.Set("total", static_cast<double>(answer.total));
  object.Set("rows", static_cast<double>(rows.size()));
  object.Set("sumBytes", static_cast<double>(answer.sum_bytes));
  object.Set("address", column<uint64_t>(env, rows, [](const auto &row) { return row.address; }));
  object.Set("bytes", column<double>(env, rows, [](const auto &row) { return row.bytes; }));
  object.Set("device", column<int32_t>(env, rows, [](const auto &row) { return row.device; }));
  object.Set("process", column<int32_t>(env, rows, [](const auto &row) { return row.process; }));
  object.Set("thread", column<int32_t>(env, rows, [](const auto &row) { return row.thread; }));
  object.Set("layer", words<model::Layer>(env, rows, [](const auto &row) { return row.layer; }));
  object.Set("site", column<uint32_t>(env, rows, [](const auto &row) { return row.site; }));
  object.Set("timeNs", column<double>(env, rows, [](const auto &row) { return row.time_ns; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const auto &row) { return row.stream; }));
  object.Set("kind", column<uint8_t>(env, rows, [](const auto &row) { return row.kind; }));
  object.Set("step", column<double>(env, rows, [](const auto &row) { return row.step; }));
  object.Set("ageSteps", column<double>(env, rows, [](const auto &row) { return row.age_steps; }));
  object.Set("category", words<model::Category>(env, rows, [](const auto &row) { return row.category; }));
  object.Set("name", texts(env, rows, [](const auto &row) -> const auto & { return row.name; }));
  object.Set("askedBytes", column<double>(env, rows, [](const auto &row) { return row.asked_bytes != GMT_UNKNOWN ? static_cast<double>(row.asked_bytes) : kNotKnown; }));
  object.Set("pool", texts(env, rows, [](const auto &row) { return pool_text(row.pool_owner, row.pool_number); }));
  return object;
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<LifetimeRow> &rows) {
  object.Set("address", column<uint64_t>(env, rows, [](const auto &row) { return row.lifetime.address; }));
  object.Set("bytes", column<double>(env, rows, [](const auto &row) { return row.lifetime.bytes; }));
  object.Set("device", column<int32_t>(env, rows, [](const auto &row) { return model::device_number(row.lifetime.device); }));
  object.Set("process", column<int32_t>(env, rows, [](const auto &row) { return row.process; }));
  object.Set("thread", column<int32_t>(env, rows, [](const auto &row) { return row.thread; }));
  object.Set("layer", column<uint8_t>(env, rows, [](const auto &row) { return row.layer; }));
  object.Set("site", column<uint32_t>(env, rows, [](const auto &row) { return row.site; }));
  object.Set("beginNs", column<double>(env, rows, [](const auto &row) { return row.lifetime.begin_ns; }));
  object.Set("endNs", column<double>(env, rows, [](const auto &row) { return row.lifetime.end_ns != model::Lifetime::kAlive ? static_cast<double>(row.lifetime.end_ns) : kNotKnown; }));
  object.Set("freeThread", column<int32_t>(env, rows, [](const auto &row) { return row.lifetime.free_thread; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const auto &row) { return row.lifetime.stream; }));
  object.Set("kind", column<uint8_t>(env, rows, [](const auto &row) { return row.lifetime.kind; }));
  object.Set("stepBegin", column<double>(env, rows, [](const auto &row) { return row.lifetime.step; }));
  object.Set("category", column<uint8_t>(env, rows, [](const auto &row) { return row.lifetime.category; }));
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::SegmentBlock> &rows) {
  object.Set("segment", column<uint32_t>(env, rows, [](const auto &row) { return row.segment; }));
  object.Set("offsetBytes", column<double>(env, rows, [](const auto &row) { return row.offset; }));
  object.Set("bytes", column<double>(env, rows, [](const auto &row) { return row.bytes; }));
  object.Set("site", column<uint32_t>(env, rows, [](const auto &row) { return row.site; }));
  object.Set("ageSteps", column<double>(env, rows, [](const auto &row) { return row.age_steps; }));
  object.Set("timeNs", column<double>(env, rows, [](const auto &row) { return row.time_ns; }));
  object.Set("category", column<uint8_t>(env, rows, [](const auto &row) { return row.category; }));
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::Segment> &rows) {
  object.Set("address", column<uint64_t>(env, rows, [](const auto &row) { return row.begin; }));
  object.Set("bytes", column<double>(env, rows, [](const auto &row) { return row.end - row.begin; }));
  object.Set("liveBytes", column<double>(env, rows, [](const auto &row) { return row.live_bytes; }));
  object.Set("largestGapBytes", column<double>(env, rows, [](const auto &row) { return row.largest_gap; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const auto &row) { return row.stream; }));
  object.Set("mapped", column<uint8_t>(env, rows, [](const auto &row) { return row.mapped; }));
  object.Set("timeNs", column<double>(env, rows, [](const auto &row) { return row.time_ns; }));
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::StepMark> &rows) {
  object.Set("endNs", column<double>(env, rows, [](const auto &row) { return row.end_ns; }));
  object.Set("collections", column<double>(env, rows, [](const auto &row) { return row.collections; }));
  object.Set("fullCollections", column<double>(env, rows, [](const auto &row) { return row.full_collections; }));
  object.Set("flags", column<uint8_t>(env, rows, [](const auto &row) { return row.flags; }));
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::SiteSeriesRow> &rows) {
  object.Set("id", column<uint32_t>(env, rows, [](const auto &row) { return row.id; }));
  object.Set("thread", column<int32_t>(env, rows, [](const auto &row) { return row.thread; }));
  object.Set("device", column<int32_t>(env, rows, [](const auto &row) { return row.device; }));
  object.Set("lineSource", words<model::LineSource>(env, rows, [](const auto &row) { return row.source; }));
  object.Set("firstStep", column<double>(env, rows, [](const auto &row) { return row.first_step; }));
  object.Set("lastAllocationStep", column<double>(env, rows, [](const auto &row) { return row.last_allocation_step; }));
  object.Set("lastFreeStep", column<double>(env, rows, [](const auto &row) { return row.last_free_step; }));
  object.Set("segmentAllocations", column<double>(env, rows, [](const auto &row) { return row.segment_allocations; }));
  object.Set("allocations", column<double>(env, rows, [](const auto &row) { return row.allocations; }));
  object.Set("medianBytes", column<double>(env, rows, [](const auto &row) { return row.median_bytes; }));
  object.Set("largestBytes", column<double>(env, rows, [](const auto &row) { return row.largest_bytes; }));
  object.Set("largestStep", column<double>(env, rows, [](const auto &row) { return row.largest_step; }));
  object.Set("category", words<model::Category>(env, rows, [](const auto &row) { return row.category; }));
  object.Set("categoryBytes", column<double>(env, rows, [](const auto &row) { return row.category_bytes; }));
}

}  // namespace gmt::addon
