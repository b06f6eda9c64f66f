// Segments and lifetimes as typed arrays.
#include <limits>

#include "addon/answers.h"
#include "addon/columns.h"

namespace gmt::addon {
namespace {

Napi::Object blocks_of(Napi::Env env, const model::SegmentMap &map) {
  using Block = model::SegmentBlock;
  const auto &rows = map.blocks;
  auto object = Napi::Object::New(env);
  const auto put = [&](const char *name, auto value) { object.Set(name, static_cast<double>(value)); };
  put("rows", rows.size());
  put("leftOut", map.blocks_left_out);
  put("leftOutBytes", map.bytes_left_out);
  put("outside", map.blocks_outside);
  put("outsideBytes", map.bytes_outside);
  object.Set("segment", column<uint32_t>(env, rows, [](const Block &row) { return row.segment; }));
  object.Set("offsetBytes", column<double>(env, rows, [](const Block &row) { return row.offset; }));
  object.Set("bytes", column<double>(env, rows, [](const Block &row) { return row.bytes; }));
  object.Set("site", column<uint32_t>(env, rows, [](const Block &row) { return row.site; }));
  object.Set("ageSteps", column<double>(env, rows, [](const Block &row) { return row.age_steps; }));
  object.Set("timeNs", column<double>(env, rows, [](const Block &row) { return row.time_ns; }));
  object.Set("category", column<uint8_t>(env, rows, [](const Block &row) { return row.category; }));
  return object;
}

}  // namespace

Napi::Value segments_answer(Napi::Env env, const model::SegmentMap &map, uint64_t revision) {
  using Row = model::Segment;
  const auto &rows = map.segments;
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(revision));
  object.Set("source", map.of_driver ? "driver" : "framework");
  object.Set("segmentsLeftOut", static_cast<double>(map.segments_left_out));
  object.Set("address", column<uint64_t>(env, rows, [](const Row &row) { return row.begin; }));
  object.Set("bytes", column<double>(env, rows, [](const Row &row) { return row.end - row.begin; }));
  object.Set("liveBytes", column<double>(env, rows, [](const Row &row) { return row.live_bytes; }));
  object.Set("largestGapBytes", column<double>(env, rows, [](const Row &row) { return row.largest_gap; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const Row &row) { return row.stream; }));
  object.Set("mapped", column<uint8_t>(env, rows, [](const Row &row) { return row.mapped; }));
  object.Set("site", column<uint32_t>(env, map.sites, [](uint32_t site) { return site; }));
  object.Set("timeNs", column<double>(env, rows, [](const Row &row) { return row.time_ns; }));
  object.Set("blocks", blocks_of(env, map));
  return object;
}

Napi::Value lifetimes_answer(Napi::Env env, const std::vector<LifetimeRow> &rows) {
  using Row = LifetimeRow;
  auto object = Napi::Object::New(env);
  const auto doubles = [&](auto read) { return column<double>(env, rows, read); };
  object.Set("rows", static_cast<double>(rows.size()));
  object.Set("address", column<uint64_t>(env, rows, [](const Row &row) { return row.lifetime.address; }));
  object.Set("bytes", doubles([](const Row &row) { return row.lifetime.bytes; }));
  object.Set("device",
             column<int32_t>(env, rows, [](const Row &row) { return model::device_number(row.lifetime.device); }));
  object.Set("process", column<int32_t>(env, rows, [](const Row &row) { return row.process; }));
  object.Set("thread", column<int32_t>(env, rows, [](const Row &row) { return row.thread; }));
  object.Set("layer", column<uint8_t>(env, rows, [](const Row &row) { return static_cast<uint8_t>(row.layer); }));
  object.Set("site", column<uint32_t>(env, rows, [](const Row &row) { return row.site; }));
  object.Set("beginNs", doubles([](const Row &row) { return row.lifetime.begin_ns; }));
  object.Set("endNs", doubles([](const Row &row) {
               const bool alive = row.lifetime.end_ns == model::Lifetime::kAlive;
               return alive ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(row.lifetime.end_ns);
             }));
  object.Set("freeThread", column<int32_t>(env, rows, [](const Row &row) { return row.lifetime.free_thread; }));
  object.Set("stream", column<uint64_t>(env, rows, [](const Row &row) { return row.lifetime.stream; }));
  object.Set("kind", column<uint8_t>(env, rows, [](const Row &row) { return row.lifetime.kind; }));
  object.Set("stepBegin", doubles([](const Row &row) { return row.lifetime.step; }));
  object.Set("category", column<uint8_t>(env, rows, [](const Row &row) { return row.lifetime.category; }));
  return object;
}

}  // namespace gmt::addon
