// Series over steps as typed arrays; blocks, free lines and answers of the agent.
#include "addon/answers/pack.gen.h"

namespace gmt::addon {
namespace {

/// Sets each column under the word of the enum for it.
template <typename Enum, typename Columns>
void put_matrices(Napi::Env env, Napi::Object &object, const Columns &columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    object.Set(model::word_of(static_cast<Enum>(i)),
               column<double>(env, columns[i], [](double value) { return value; }));
  }
}

Napi::Object axis_answer(Napi::Env env, const model::StepAxis &axis, uint64_t revision) {
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(revision));
  object.Set("process", axis.process);
  object.Set("source", model::word_of(axis.source));
  object.Set("count", axis.count);
  object.Set("first", column<double>(env, axis.buckets, [](const model::StepBucket &one) { return one.first; }));
  object.Set("last", column<double>(env, axis.buckets, [](const model::StepBucket &one) { return one.last; }));
  put_columns(env, object, axis.marks);
  return object;
}

}  // namespace

Napi::Value site_series_answer(Napi::Env env, const model::SiteSeries &series, uint64_t revision) {
  auto object = axis_answer(env, series.axis, revision);
  object.Set("total", static_cast<double>(series.total));
  object.Set("rows", static_cast<double>(series.rows.size()));
  put_columns(env, object, series.rows);
  put_matrices<model::SeriesColumn>(env, object, series.columns);
  object.Set("survivorsAtStepEnd", Napi::Boolean::New(env, series.survivors_at_step_end));
  return object;
}

Napi::Value ledger_series_answer(Napi::Env env, const model::LedgerSeries &series, uint64_t revision) {
  auto object = axis_answer(env, series.axis, revision);
  object.Set("device", series.device);
  put_matrices<model::LedgerColumn>(env, object, series.columns);
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
