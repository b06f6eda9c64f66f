#pragma once
// Answers as the objects that JavaScript gets. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.
#include "addon/columns.h"
#include "model/query/rows.gen.h"

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

}  // namespace gmt::addon
