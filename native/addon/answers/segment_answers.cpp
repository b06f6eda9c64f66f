// Segments and lifetimes as typed arrays.
#include "addon/answers/pack.gen.h"

namespace gmt::addon {
namespace {

Napi::Object blocks_of(Napi::Env env, const model::SegmentMap &map) {
  const auto &rows = map.blocks;
  auto object = Napi::Object::New(env);
  const auto put = [&](const char *name, auto value) { object.Set(name, static_cast<double>(value)); };
  put("rows", rows.size());
  put("leftOut", map.blocks_left_out);
  put("leftOutBytes", map.bytes_left_out);
  put("outside", map.blocks_outside);
  put("outsideBytes", map.bytes_outside);
  put_columns(env, object, rows);
  return object;
}

}  // namespace

Napi::Value segments_answer(Napi::Env env, const model::SegmentMap &map, uint64_t revision) {
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(revision));
  object.Set("source", map.of_driver ? "driver" : "framework");
  object.Set("segmentsLeftOut", static_cast<double>(map.segments_left_out));
  put_columns(env, object, map.segments);
  object.Set("site", column<uint32_t>(env, map.sites, [](uint32_t site) { return site; }));
  object.Set("pool", column<uint32_t>(env, map.pools, [](uint32_t pool) { return pool; }));
  object.Set("pools",
             objects(env, map.pool_labels, [&](const std::string &label) { return Napi::String::New(env, label); }));
  object.Set("blocks", blocks_of(env, map));
  return object;
}

Napi::Value lifetimes_answer(Napi::Env env, const LifetimeRows &found) {
  auto object = Napi::Object::New(env);
  object.Set("rows", static_cast<double>(found.rows.size()));
  object.Set("modules", texts(env, found.modules, [](const std::string &path) { return path; }));
  put_columns(env, object, found.rows);
  return object;
}

}  // namespace gmt::addon
