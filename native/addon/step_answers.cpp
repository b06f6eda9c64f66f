// Series over steps as typed arrays; blocks, free lines and answers of the agent.
#include "addon/answers.h"
#include "addon/columns.h"

namespace gmt::addon {
namespace {

Napi::TypedArrayOf<double> numbers(Napi::Env env, const std::vector<double> &values) {
  return column<double>(env, values, [](double value) { return value; });
}

Napi::Object axis_answer(Napi::Env env, const model::StepAxis &axis, uint64_t revision) {
  auto object = Napi::Object::New(env);
  using Mark = model::StepMark;
  const auto doubles = [&](auto read) { return column<double>(env, axis.marks, read); };
  object.Set("revision", static_cast<double>(revision));
  object.Set("process", axis.process);
  object.Set("source", model::word_of(axis.source));
  object.Set("count", axis.count);
  object.Set("first", column<double>(env, axis.buckets, [](const model::StepBucket &one) { return one.first; }));
  object.Set("last", column<double>(env, axis.buckets, [](const model::StepBucket &one) { return one.last; }));
  object.Set("endNs", doubles([](const Mark &mark) { return mark.end_ns; }));
  object.Set("collections", doubles([](const Mark &mark) { return mark.collections; }));
  object.Set("fullCollections", doubles([](const Mark &mark) { return mark.full_collections; }));
  object.Set("flags", column<uint8_t>(env, axis.marks, [](const Mark &mark) { return mark.flags; }));
  return object;
}

}  // namespace

Napi::Value site_series_answer(Napi::Env env, const model::SiteSeries &series, uint64_t revision) {
  static constexpr const char *kColumns[] = {
      "liveBytes",    "liveCount",      "minBytes",         "maxBytes",      "stepAllocations", "stepAllocatedBytes",
      "stepFrees",    "stepFreedBytes", "gcFrees",          "gcFreedBytes",  "oldFrees",        "oldFreedBytes",
      "oldLiveCount", "oldLiveBytes",   "stepLargestBytes", "survivorCount", "survivorBytes"};
  static_assert(std::size(kColumns) == model::kSeriesColumns);
  using Row = model::SiteSeriesRow;
  const auto &rows = series.rows;
  auto object = axis_answer(env, series.axis, revision);
  const auto doubles = [&](auto read) { return column<double>(env, rows, read); };
  object.Set("total", static_cast<double>(series.total));
  object.Set("rows", static_cast<double>(rows.size()));
  object.Set("id", column<uint32_t>(env, rows, [](const Row &row) { return row.id; }));
  object.Set("thread", column<int32_t>(env, rows, [](const Row &row) { return row.thread; }));
  object.Set("device", column<int32_t>(env, rows, [](const Row &row) { return row.device; }));
  object.Set("lineSource", texts(env, rows, [](const Row &row) { return model::word_of(row.source); }));
  object.Set("firstStep", doubles([](const Row &row) { return row.first_step; }));
  object.Set("lastAllocationStep", doubles([](const Row &row) { return row.last_allocation_step; }));
  object.Set("lastFreeStep", doubles([](const Row &row) { return row.last_free_step; }));
  object.Set("segmentAllocations", doubles([](const Row &row) { return row.segments; }));
  object.Set("allocations", doubles([](const Row &row) { return row.allocations; }));
  object.Set("medianBytes", doubles([](const Row &row) { return row.median_bytes; }));
  object.Set("largestBytes", doubles([](const Row &row) { return row.largest_bytes; }));
  object.Set("largestStep", doubles([](const Row &row) { return row.largest_step; }));
  object.Set("category", texts(env, rows, [](const Row &row) { return model::category_name(row.category); }));
  object.Set("categoryBytes", doubles([](const Row &row) { return row.category_bytes; }));
  for (size_t i = 0; i < model::kSeriesColumns; ++i) object.Set(kColumns[i], numbers(env, series.columns[i]));
  object.Set("survivorsAtStepEnd", Napi::Boolean::New(env, series.survivors_at_step_end));
  return object;
}

Napi::Value ledger_series_answer(Napi::Env env, const model::LedgerSeries &series, uint64_t revision) {
  static constexpr const char *kColumns[] = {"tensorBytes",  "tensorMaxBytes", "reservedBytes", "reservedMaxBytes",
                                             "driverBytes",  "driverMaxBytes", "hostBytes",     "hostMaxBytes",
                                             "processBytes", "usedBytes",      "totalBytes",    "pendingBytes"};
  static_assert(std::size(kColumns) == model::kLedgerColumns);
  auto object = axis_answer(env, series.axis, revision);
  object.Set("device", series.device);
  for (size_t i = 0; i < model::kLedgerColumns; ++i) object.Set(kColumns[i], numbers(env, series.columns[i]));
  return object;
}

Napi::Value free_lines_answer(Napi::Env env, const std::vector<model::FreeLine> &lines) {
  return objects(env, lines, [&](const model::FreeLine &line) {
    auto object = Napi::Object::New(env);
    object.Set("count", static_cast<double>(line.count));
    object.Set("lastStep", line.last_step);
    object.Set("frames", frames_answer(env, line.stack.frames));
    object.Set("userFrame", line.stack.user_frame);
    return object;
  });
}

Napi::Value fragmentation_answer(Napi::Env env, const model::Fragmentation &known) {
  auto object = Napi::Object::New(env);
  const auto put = [&](const char *name, uint64_t value) { object.Set(name, static_cast<double>(value)); };
  put("segments", known.segments);
  put("segmentBytes", known.segment_bytes);
  put("partlyUsedSegments", known.partly_used_segments);
  put("emptySegments", known.empty_segments);
  put("freeBytes", known.free_bytes);
  put("largestFreeBytes", known.largest_free_bytes);
  return object;
}

Napi::Value blocks_answer(Napi::Env env, const std::vector<BlockAnswer> &blocks) {
  return objects(env, blocks, [&](const BlockAnswer &block) {
    const model::BlockFacts &facts = block.facts;
    auto object = Napi::Object::New(env);
    object.Set("address", Napi::BigInt::New(env, facts.address));
    object.Set("known", Napi::Boolean::New(env, facts.known));
    object.Set("alive", Napi::Boolean::New(env, facts.alive));
    object.Set("bytes", static_cast<double>(facts.bytes));
    object.Set("site", block.site);
    object.Set("device", facts.known ? model::device_number(facts.device) : 0);
    object.Set("step", facts.step);
    object.Set("timeNs", static_cast<double>(facts.time_ns));
    return object;
  });
}

Napi::Value agent_answer(Napi::Env env, const AgentAnswer &known) {
  const model::Answer &answer = known.answer;
  auto object = Napi::Object::New(env);
  object.Set("process", known.process);
  object.Set("index", answer.index);
  object.Set("request", answer.request);
  object.Set("timeNs", static_cast<double>(answer.time_ns));
  object.Set("complete", Napi::Boolean::New(env, answer.complete()));
  object.Set("bytes", static_cast<double>(answer.text.size()));
  object.Set("text", answer.complete() ? answer.text : "");
  object.Set("blocks", blocks_answer(env, known.blocks));
  return object;
}

}  // namespace gmt::addon
