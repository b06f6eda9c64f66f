#include "addon/answers/answers.h"

namespace gmt::addon {

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

Napi::Value passes_answer(Napi::Env env, const std::vector<model::PassBegin> &passes) {
  auto array = Napi::Float64Array::New(env, passes.size() * 2);
  for (size_t i = 0; i < passes.size(); ++i) {
    array.Data()[2 * i] = static_cast<double>(passes[i].begin_ns);
    array.Data()[2 * i + 1] = static_cast<double>(passes[i].pass);
  }
  return array;
}

}  // namespace gmt::addon
