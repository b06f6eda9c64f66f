#include <string>
#include <utility>

#include "addon/answers/answers.h"
#include "addon/answers/pack.gen.h"

namespace gmt::addon {
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

Napi::Value allocations_answer(Napi::Env env, const model::AllocationRows &answer) { return pack(env, answer); }

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
