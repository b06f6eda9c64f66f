// Series over steps as typed arrays.
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

}  // namespace gmt::addon
