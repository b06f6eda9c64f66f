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
  object.Set("thread", column<uint32_t>(env, rows, [](const auto &row) { return row.thread; }));
  object.Set("layer", words<model::Layer>(env, rows, [](const auto &row) { return row.layer; }));
  object.Set("site", column<uint32_t>(env, rows, [](const auto &row) { return row.site; }));
  object.Set("timeNs", column<double>(env, rows, [](const auto &row) { return row.time_ns; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const auto &row) { return row.stream; }));
  object.Set("kind", column<uint8_t>(env, rows, [](const auto &row) { return row.kind; }));
  object.Set("step", column<double>(env, rows, [](const auto &row) { return row.step; }));
  object.Set("ageSteps", column<double>(env, rows, [](const auto &row) { return row.age_steps; }));
  object.Set("category", words<model::Category>(env, rows, [](const auto &row) { return row.category; }));
  object.Set("name", texts(env, rows, [](const auto &row) -> const auto & { return row.name; }));
  object.Set("module", texts(env, rows, [](const auto &row) -> const auto & { return row.module; }));
  object.Set("askedBytes", column<double>(env, rows, [](const auto &row) { return row.asked_bytes != GMT_UNKNOWN ? static_cast<double>(row.asked_bytes) : kNotKnown; }));
  object.Set("pool", texts(env, rows, [](const auto &row) { return pool_text(row.pool_owner, row.pool_number); }));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::Frame &row) {
  auto object = Napi::Object::New(env);
  object.Set("file", row.file);
  object.Set("line", Napi::Number::New(env, static_cast<double>(row.line)));
  object.Set("function", row.function);
  return object;
}

inline Napi::Object pack(Napi::Env env, const trace::Thread &row) {
  auto object = Napi::Object::New(env);
  object.Set("index", Napi::Number::New(env, static_cast<double>(row.index)));
  object.Set("tid", Napi::Number::New(env, static_cast<double>(row.tid)));
  object.Set("name", row.name);
  return object;
}

inline Napi::Object pack(Napi::Env env, const trace::Note &row) {
  auto object = Napi::Object::New(env);
  object.Set("code", Napi::Number::New(env, static_cast<double>(row.code)));
  object.Set("text", row.text);
  return object;
}

inline Napi::Object pack(Napi::Env env, const trace::Device &row) {
  auto object = Napi::Object::New(env);
  object.Set("index", Napi::Number::New(env, static_cast<double>(row.index)));
  object.Set("name", row.name);
  object.Set("totalBytes", Napi::Number::New(env, static_cast<double>(row.total_bytes)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const ProcessData &row) {
  auto object = Napi::Object::New(env);
  object.Set("index", Napi::Number::New(env, static_cast<double>(row.index)));
  object.Set("pid", Napi::Number::New(env, static_cast<double>(row.facts.pid)));
  object.Set("parentPid", Napi::Number::New(env, static_cast<double>(row.facts.parent_pid)));
  object.Set("uid", Napi::Number::New(env, static_cast<double>(row.facts.uid)));
  object.Set("command", texts(env, row.command, [](const auto &one) -> const auto & { return one; }));
  object.Set("ended", Napi::Boolean::New(env, row.ended));
  object.Set("startNs", Napi::Number::New(env, static_cast<double>(row.facts.start_ns)));
  object.Set("python", row.python ? Napi::Value(Napi::String::New(env, version_text(row.python))) : env.Null());
  object.Set("driverSource", model::word_of(driver_source(row.facts.driver_source)));
  object.Set("simulated", Napi::Boolean::New(env, row.facts.simulated));
  object.Set("recording", Napi::Boolean::New(env, row.recording));
  object.Set("threads", objects(env, row.threads, [&](const auto &one) { return pack(env, one); }));
  object.Set("notes", objects(env, row.notes, [&](const auto &one) { return pack(env, one); }));
  return object;
}

inline Napi::Object pack(Napi::Env env, const TotalsData &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("pid", Napi::Number::New(env, static_cast<double>(row.pid)));
  object.Set("device", Napi::Number::New(env, static_cast<double>(model::device_number(row.device))));
  object.Set("layer", model::word_of(row.layer));
  object.Set("liveBytes", Napi::Number::New(env, static_cast<double>(row.live_bytes)));
  object.Set("liveCount", Napi::Number::New(env, static_cast<double>(row.live_count)));
  object.Set("peakBytes", Napi::Number::New(env, static_cast<double>(row.peak_bytes)));
  object.Set("peakNs", Napi::Number::New(env, static_cast<double>(row.peak_ns)));
  object.Set("allocations", Napi::Number::New(env, static_cast<double>(row.allocations)));
  object.Set("frees", Napi::Number::New(env, static_cast<double>(row.frees)));
  object.Set("failed", Napi::Number::New(env, static_cast<double>(row.failed)));
  object.Set("allocatedBytes", Napi::Number::New(env, static_cast<double>(row.allocated_bytes)));
  object.Set("freedBytes", Napi::Number::New(env, static_cast<double>(row.freed_bytes)));
  object.Set("unmatchedFrees", Napi::Number::New(env, static_cast<double>(row.unmatched_frees)));
  object.Set("impliedFrees", Napi::Number::New(env, static_cast<double>(row.implied_frees)));
  object.Set("segmentAllocations", Napi::Number::New(env, static_cast<double>(row.segment_allocations)));
  object.Set("segmentFrees", Napi::Number::New(env, static_cast<double>(row.segment_frees)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::Fragmentation &row) {
  auto object = Napi::Object::New(env);
  object.Set("segments", Napi::Number::New(env, static_cast<double>(row.segments)));
  object.Set("segmentBytes", Napi::Number::New(env, static_cast<double>(row.segment_bytes)));
  object.Set("partlyUsedSegments", Napi::Number::New(env, static_cast<double>(row.partly_used_segments)));
  object.Set("emptyBytes", Napi::Number::New(env, static_cast<double>(row.empty_bytes)));
  object.Set("freeBytes", Napi::Number::New(env, static_cast<double>(row.free_bytes)));
  object.Set("largestFreeBytes", Napi::Number::New(env, static_cast<double>(row.largest_free_bytes)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::PoolRow &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("device", Napi::Number::New(env, static_cast<double>(row.device)));
  object.Set("kind", model::word_of(row.kind));
  object.Set("makers", Napi::Number::New(env, static_cast<double>(row.makers)));
  object.Set("id", row.id);
  object.Set("label", row.label);
  object.Set("segments", Napi::Number::New(env, static_cast<double>(row.segments)));
  object.Set("reservedBytes", Napi::Number::New(env, static_cast<double>(row.reserved_bytes)));
  object.Set("liveBytes", Napi::Number::New(env, static_cast<double>(row.live_bytes)));
  object.Set("site", Napi::Number::New(env, static_cast<double>(row.site)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::CategoryRow &row) {
  auto object = Napi::Object::New(env);
  object.Set("category", model::word_of(static_cast<model::Category>(row.category)));
  object.Set("bytes", Napi::Number::New(env, static_cast<double>(row.sum.bytes)));
  object.Set("count", Napi::Number::New(env, static_cast<double>(row.sum.count)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const CategoryData &row) {
  auto object = pack(env, static_cast<const model::CategoryRow &>(row));
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("device", Napi::Number::New(env, static_cast<double>(model::device_number(row.device))));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::SnapshotSite &row) {
  auto object = Napi::Object::New(env);
  object.Set("site", Napi::Number::New(env, static_cast<double>(row.site)));
  object.Set("liveBytes", Napi::Number::New(env, static_cast<double>(row.live_bytes)));
  object.Set("liveCount", Napi::Number::New(env, static_cast<double>(row.live_count)));
  object.Set("oldestStep", Napi::Number::New(env, static_cast<double>(row.oldest_step)));
  object.Set("grownBytes", Napi::Number::New(env, static_cast<double>(row.grown_bytes)));
  object.Set("activationBytes", Napi::Number::New(env, static_cast<double>(row.activation_bytes)));
  object.Set("stepAllocatedBytes", Napi::Number::New(env, static_cast<double>(row.step_allocated_bytes)));
  object.Set("usualAllocatedBytes", Napi::Number::New(env, static_cast<double>(row.usual_allocated_bytes)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::MemorySnapshot &row) {
  auto object = Napi::Object::New(env);
  object.Set("step", Napi::Number::New(env, static_cast<double>(row.step)));
  object.Set("tensorBytes", Napi::Number::New(env, static_cast<double>(row.tensor_bytes)));
  object.Set("reservedBytes", row.reserved_bytes ? Napi::Value(Napi::Number::New(env, static_cast<double>(*row.reserved_bytes))) : env.Null());
  object.Set("driverBytes", Napi::Number::New(env, static_cast<double>(row.driver_bytes)));
  object.Set("processBytes", row.memory && row.memory->process_bytes != ~0ull ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.memory->process_bytes))) : env.Null());
  object.Set("usedBytes", row.memory ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.memory->used_bytes))) : env.Null());
  object.Set("totalBytes", row.memory ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.memory->total_bytes))) : env.Null());
  object.Set("tracedBytes", row.memory ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.traced_bytes))) : env.Null());
  object.Set("fragmentation", pack(env, row.fragmentation));
  object.Set("pools", objects(env, row.pools, [&](const auto &one) { return pack(env, one); }));
  object.Set("oldGradientBytes", Napi::Number::New(env, static_cast<double>(row.old_gradient_bytes)));
  object.Set("categories", objects(env, category_sums(row), [&](const auto &one) { return pack(env, one); }));
  object.Set("sites", objects(env, row.sites, [&](const auto &one) { return pack(env, one); }));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::OutOfMemory &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("device", Napi::Number::New(env, static_cast<double>(row.device)));
  object.Set("layer", model::word_of(row.layer));
  object.Set("requestedBytes", Napi::Number::New(env, static_cast<double>(row.requested_bytes)));
  object.Set("timeNs", Napi::Number::New(env, static_cast<double>(row.time_ns)));
  object.Set("site", Napi::Number::New(env, static_cast<double>(row.site)));
  object.Set("liveBytes", Napi::Number::New(env, static_cast<double>(row.live_bytes)));
  object.Set("thread", Napi::Number::New(env, static_cast<double>(row.thread)));
  object.Set("freeBytes", row.free_bytes != GMT_UNKNOWN ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.free_bytes))) : env.Null());
  object.Set("snapshot", row.snapshot ? Napi::Value(pack(env, *row.snapshot)) : env.Null());
  return object;
}

inline Napi::Object pack(Napi::Env env, const ProcessSteps &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("source", model::word_of(row.source));
  object.Set("count", Napi::Number::New(env, static_cast<double>(row.count)));
  object.Set("lastEndNs", Napi::Number::New(env, static_cast<double>(row.last_end_ns)));
  object.Set("sure", Napi::Boolean::New(env, row.sure));
  object.Set("alone", Napi::Boolean::New(env, row.alone));
  object.Set("parts", Napi::Boolean::New(env, row.parts));
  object.Set("idleNs", Napi::Number::New(env, static_cast<double>(row.idle_ns)));
  object.Set("poolsNs", Napi::Number::New(env, static_cast<double>(row.pools_ns)));
  object.Set("touched", Napi::Number::New(env, static_cast<double>(row.touched)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const Pause &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("kind", row.of_driver ? "driver" : "recording");
  object.Set("beginNs", Napi::Number::New(env, static_cast<double>(row.begin_ns)));
  object.Set("endNs", row.end_ns != ~0ull ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.end_ns))) : env.Null());
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::Range &row) {
  auto object = Napi::Object::New(env);
  object.Set("beginNs", Napi::Number::New(env, static_cast<double>(row.begin_ns)));
  object.Set("endNs", row.end_ns != ~0ull ? Napi::Value(Napi::Number::New(env, static_cast<double>(row.end_ns))) : env.Null());
  object.Set("thread", Napi::Number::New(env, static_cast<double>(row.thread)));
  object.Set("name", row.name);
  return object;
}

inline Napi::Object pack(Napi::Env env, const AnswerInfo &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("index", Napi::Number::New(env, static_cast<double>(row.index)));
  object.Set("request", Napi::Number::New(env, static_cast<double>(row.request)));
  object.Set("timeNs", Napi::Number::New(env, static_cast<double>(row.time_ns)));
  object.Set("complete", Napi::Boolean::New(env, row.complete));
  return object;
}

inline Napi::Object pack(Napi::Env env, const BlockAnswer &row) {
  auto object = Napi::Object::New(env);
  object.Set("address", Napi::BigInt::New(env, row.facts.address));
  object.Set("known", Napi::Boolean::New(env, row.facts.known));
  object.Set("alive", Napi::Boolean::New(env, row.facts.alive));
  object.Set("bytes", Napi::Number::New(env, static_cast<double>(row.facts.bytes)));
  object.Set("site", Napi::Number::New(env, static_cast<double>(row.site)));
  object.Set("device", Napi::Number::New(env, static_cast<double>((row.facts.known ? model::device_number(row.facts.device) : 0))));
  object.Set("step", Napi::Number::New(env, static_cast<double>(row.facts.step)));
  object.Set("timeNs", Napi::Number::New(env, static_cast<double>(row.facts.time_ns)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const AgentAnswer &row) {
  auto object = pack(env, static_cast<const AnswerInfo &>(row));
  object.Set("text", row.text);
  object.Set("blocks", objects(env, row.blocks, [&](const auto &one) { return pack(env, one); }));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::FreeLine &row) {
  auto object = Napi::Object::New(env);
  object.Set("count", Napi::Number::New(env, static_cast<double>(row.count)));
  object.Set("lastStep", Napi::Number::New(env, static_cast<double>(row.last_step)));
  object.Set("frames", objects(env, row.stack.frames, [&](const auto &one) { return pack(env, one); }));
  object.Set("userFrame", Napi::Number::New(env, static_cast<double>(row.stack.user_frame)));
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::SiteDetail &row) {
  auto object = Napi::Object::New(env);
  object.Set("id", Napi::Number::New(env, static_cast<double>(row.id)));
  object.Set("key", key_text(row.key));
  object.Set("layer", model::word_of(row.layer));
  object.Set("source", model::word_of(row.source));
  object.Set("pass", model::word_of(row.pass));
  object.Set("cut", Napi::Boolean::New(env, row.stack.cut));
  object.Set("frames", objects(env, row.stack.frames, [&](const auto &one) { return pack(env, one); }));
  object.Set("userFrame", Napi::Number::New(env, static_cast<double>(row.stack.user_frame)));
  object.Set("library", row.library);
  return object;
}

inline Napi::Object pack(Napi::Env env, const InfoData &row) {
  auto object = Napi::Object::New(env);
  object.Set("revision", Napi::Number::New(env, static_cast<double>(row.revision)));
  object.Set("live", Napi::Boolean::New(env, row.live));
  object.Set("events", Napi::Number::New(env, static_cast<double>(row.events)));
  object.Set("durationNs", Napi::Number::New(env, static_cast<double>(row.duration_ns)));
  object.Set("startRealtimeMs", Napi::Number::New(env, static_cast<double>(static_cast<double>(row.start_realtime_ns) * 1e-6)));
  object.Set("processes", objects(env, row.processes, [&](const auto &one) { return pack(env, one); }));
  object.Set("devices", objects(env, row.devices, [&](const auto &one) { return pack(env, one); }));
  object.Set("totals", objects(env, row.totals, [&](const auto &one) { return pack(env, one); }));
  object.Set("outOfMemory", objects(env, row.out_of_memory, [&](const auto &one) { return pack(env, one); }));
  object.Set("outOfMemoryCount", Napi::Number::New(env, static_cast<double>(row.out_of_memory_count)));
  object.Set("steps", objects(env, row.steps, [&](const auto &one) { return pack(env, one); }));
  object.Set("pauses", objects(env, row.pauses, [&](const auto &one) { return pack(env, one); }));
  object.Set("categories", objects(env, row.categories, [&](const auto &one) { return pack(env, one); }));
  object.Set("answers", objects(env, row.answers, [&](const auto &one) { return pack(env, one); }));
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
  object.Set("module", column<uint32_t>(env, rows, [](const auto &row) { return row.module; }));
}
inline Napi::Object pack(Napi::Env env, const LifetimeRows &row) {
  auto object = Napi::Object::New(env);
  object.Set("rows", Napi::Number::New(env, static_cast<double>(row.rows.size())));
  object.Set("modules", texts(env, row.modules, [](const auto &one) -> const auto & { return one; }));
  put_columns(env, object, row.rows);
  return object;
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::SegmentBlock> &rows) {
  object.Set("segment", column<uint32_t>(env, rows, [](const auto &row) { return row.segment; }));
  object.Set("offsetBytes", column<double>(env, rows, [](const auto &row) { return row.offset; }));
  object.Set("bytes", column<double>(env, rows, [](const auto &row) { return row.bytes; }));
  object.Set("site", column<uint32_t>(env, rows, [](const auto &row) { return row.site; }));
  object.Set("ageSteps", column<double>(env, rows, [](const auto &row) { return row.age_steps; }));
  object.Set("category", column<uint8_t>(env, rows, [](const auto &row) { return row.category; }));
}
inline Napi::Object pack_segment_blocks(Napi::Env env, const model::SegmentMap &row) {
  auto object = Napi::Object::New(env);
  object.Set("rows", Napi::Number::New(env, static_cast<double>(row.blocks.size())));
  object.Set("leftOut", Napi::Number::New(env, static_cast<double>(row.blocks_left_out)));
  object.Set("leftOutBytes", Napi::Number::New(env, static_cast<double>(row.bytes_left_out)));
  object.Set("outside", Napi::Number::New(env, static_cast<double>(row.blocks_outside)));
  object.Set("outsideBytes", Napi::Number::New(env, static_cast<double>(row.bytes_outside)));
  put_columns(env, object, row.blocks);
  return object;
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::Segment> &rows) {
  object.Set("address", column<uint64_t>(env, rows, [](const auto &row) { return row.begin; }));
  object.Set("bytes", column<double>(env, rows, [](const auto &row) { return row.end - row.begin; }));
  object.Set("liveBytes", column<double>(env, rows, [](const auto &row) { return row.live_bytes; }));
  object.Set("largestGapBytes", column<double>(env, rows, [](const auto &row) { return row.largest_gap; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const auto &row) { return row.stream; }));
  object.Set("mapped", column<uint8_t>(env, rows, [](const auto &row) { return row.mapped; }));
}
inline Napi::Object pack(Napi::Env env, const model::SegmentMap &row) {
  auto object = Napi::Object::New(env);
  object.Set("revision", Napi::Number::New(env, static_cast<double>(row.revision)));
  object.Set("source", row.of_driver ? "driver" : "framework");
  object.Set("pools", texts(env, row.pool_labels, [](const auto &one) -> const auto & { return one; }));
  object.Set("segmentsLeftOut", Napi::Number::New(env, static_cast<double>(row.segments_left_out)));
  object.Set("blocks", pack_segment_blocks(env, row));
  object.Set("site", column<uint32_t>(env, row.sites, [](const auto &one) { return one; }));
  object.Set("pool", column<uint32_t>(env, row.pools, [](const auto &one) { return one; }));
  put_columns(env, object, row.segments);
  return object;
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::StepMark> &rows) {
  object.Set("endNs", column<double>(env, rows, [](const auto &row) { return row.end_ns; }));
  object.Set("fullCollections", column<double>(env, rows, [](const auto &row) { return row.full_collections; }));
  object.Set("flags", column<uint8_t>(env, rows, [](const auto &row) { return row.flags; }));
}
inline Napi::Object pack(Napi::Env env, const model::StepAxis &row) {
  auto object = Napi::Object::New(env);
  object.Set("process", Napi::Number::New(env, static_cast<double>(row.process)));
  object.Set("source", model::word_of(row.source));
  object.Set("count", Napi::Number::New(env, static_cast<double>(row.count)));
  object.Set("first", column<double>(env, row.buckets, [](const auto &one) { return one.first; }));
  object.Set("last", column<double>(env, row.buckets, [](const auto &one) { return one.last; }));
  put_columns(env, object, row.marks);
  return object;
}

/// Sets its columns.
inline void put_columns(Napi::Env env, Napi::Object &object, const std::vector<model::SiteSeriesRow> &rows) {
  object.Set("id", column<uint32_t>(env, rows, [](const auto &row) { return row.id; }));
  object.Set("device", column<int32_t>(env, rows, [](const auto &row) { return row.device; }));
  object.Set("lineSource", words<model::LineSource>(env, rows, [](const auto &row) { return row.source; }));
  object.Set("lastAllocationStep", column<double>(env, rows, [](const auto &row) { return row.last_allocation_step; }));
  object.Set("oldestFreedSteps", column<uint32_t>(env, rows, [](const auto &row) { return row.oldest_freed_steps; }));
  object.Set("segmentAllocations", column<double>(env, rows, [](const auto &row) { return row.segment_allocations; }));
  object.Set("category", words<model::Category>(env, rows, [](const auto &row) { return row.category; }));
}
inline Napi::Object pack(Napi::Env env, const model::SiteSeries &row) {
  auto object = pack(env, row.axis);
  object.Set("total", Napi::Number::New(env, static_cast<double>(row.total)));
  object.Set("rows", Napi::Number::New(env, static_cast<double>(row.rows.size())));
  put_columns(env, object, row.rows);
  put_matrices<model::SeriesColumn>(env, object, row.columns);
  return object;
}

inline Napi::Object pack(Napi::Env env, const model::LedgerSeries &row) {
  auto object = pack(env, row.axis);
  object.Set("device", Napi::Number::New(env, static_cast<double>(row.device)));
  put_matrices<model::LedgerColumn>(env, object, row.columns);
  return object;
}

}  // namespace gmt::addon
