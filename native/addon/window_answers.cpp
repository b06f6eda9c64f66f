#include <string>
#include <utility>

#include "addon/answers.h"
#include "addon/pack.gen.h"

namespace gmt::addon {
namespace {

Napi::Object window(Napi::Env env, uint64_t revision, size_t total, size_t rows) {
  auto object = Napi::Object::New(env);
  object.Set("revision", static_cast<double>(revision));
  object.Set("total", static_cast<double>(total));
  object.Set("rows", static_cast<double>(rows));
  return object;
}

/// `0:3`, as PyTorch numbers its pools; empty: not told.
std::string pool_text(const model::AllocationRow &row) {
  if (row.pool_owner == GMT_UNKNOWN || row.pool_number == GMT_UNKNOWN) return "";
  return std::to_string(row.pool_owner) + ":" + std::to_string(row.pool_number);
}

}  // namespace

Napi::Value sites_answer(Napi::Env env, const model::SiteRows &answer) { return pack(env, answer); }

Napi::Array frames_answer(Napi::Env env, const std::vector<model::Frame> &known) {
  return objects(env, known, [&](const model::Frame &one) {
    auto frame = Napi::Object::New(env);
    frame.Set("file", one.file);
    frame.Set("line", one.line);
    frame.Set("function", one.function);
    return frame;
  });
}

Napi::Value site_answer(Napi::Env env, const model::SiteDetail &site) {
  auto object = Napi::Object::New(env);
  object.Set("id", site.id);
  object.Set("key", key_text(site.key));
  object.Set("layer", model::word_of(site.layer));
  object.Set("source", model::word_of(site.source));
  object.Set("cut", Napi::Boolean::New(env, site.stack.cut));
  object.Set("frames", frames_answer(env, site.stack.frames));
  object.Set("userFrame", site.stack.user_frame);
  object.Set("library", site.library);
  return object;
}

Napi::Value allocations_answer(Napi::Env env, const model::AllocationRows &answer) {
  const auto &rows = answer.rows;
  using Row = model::AllocationRow;
  auto object = window(env, answer.revision, answer.total, rows.size());
  object.Set("sumBytes", static_cast<double>(answer.sum_bytes));
  object.Set("address", column<uint64_t>(env, rows, [](const Row &row) { return row.address; }));
  object.Set("bytes", column<double>(env, rows, [](const Row &row) { return row.bytes; }));
  object.Set("device", column<int32_t>(env, rows, [](const Row &row) { return row.device; }));
  object.Set("process", column<int32_t>(env, rows, [](const Row &row) { return row.process; }));
  object.Set("thread", column<int32_t>(env, rows, [](const Row &row) { return row.thread; }));
  object.Set("layer", texts(env, rows, [](const Row &row) { return model::word_of(row.layer); }));
  object.Set("site", column<uint32_t>(env, rows, [](const Row &row) { return row.site; }));
  object.Set("timeNs", column<double>(env, rows, [](const Row &row) { return row.time_ns; }));
  object.Set("askedBytes", column<double>(env, rows, [](const Row &row) {
               return row.asked_bytes == GMT_UNKNOWN ? kNotKnown : static_cast<double>(row.asked_bytes);
             }));
  object.Set("stream",
             column<uint64_t>(env, rows, [](const Row &row) { return row.knows_stream ? row.stream : GMT_UNKNOWN; }));
  object.Set("pool", texts(env, rows, [](const Row &row) { return pool_text(row); }));
  object.Set("kind", column<uint8_t>(env, rows, [](const Row &row) { return row.kind; }));
  object.Set("step", column<double>(env, rows, [](const Row &row) { return row.step; }));
  object.Set("ageSteps", column<double>(env, rows, [](const Row &row) { return row.age_steps; }));
  object.Set("name", texts(env, rows, [](const Row &row) { return row.name; }));
  object.Set("category", texts(env, rows, [](const Row &row) { return model::category_name(row.category); }));
  return object;
}

Napi::Value timeline_answer(Napi::Env env, const std::vector<model::Bucket> &buckets) {
  auto array = Napi::Float64Array::New(env, buckets.size() * 4);
  for (size_t i = 0; i < buckets.size(); ++i) {
    array.Data()[4 * i] = static_cast<double>(buckets[i].begin_ns);
    array.Data()[4 * i + 1] = static_cast<double>(buckets[i].min);
    array.Data()[4 * i + 2] = static_cast<double>(buckets[i].max);
    array.Data()[4 * i + 3] = static_cast<double>(buckets[i].last);
  }
  return array;
}

}  // namespace gmt::addon
