#include "addon/lifetimes_object.h"

#include <algorithm>

#include "addon/answers/answers.h"
#include "addon/promised.h"
#include "addon/questions/queries_from_js.h"
#include "addon/session_object.h"
#include "addon/wrapped.h"

namespace gmt::addon {
namespace {

constexpr double kMostRows = 1 << 20;

Napi::Value rejected(Napi::Env env, const std::string &sentence) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Reject(Napi::Error::New(env, sentence).Value());
  return deferred.Promise();
}

}  // namespace

Napi::Function LifetimesObject::define(Napi::Env env) {
  return DefineClass(env, "LifetimeCursor",
                     {
                         InstanceMethod<&LifetimesObject::next>("next"),
                         InstanceMethod<&LifetimesObject::info>("info"),
                         InstanceMethod<&LifetimesObject::site>("site"),
                         InstanceMethod<&LifetimesObject::close>("close"),
                     });
}

Napi::Value LifetimesObject::open(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsString()) return fail(env, "openLifetimes() needs the path of a trace.");
  const auto span = time_span(info);
  if (!span) return env.Undefined();
  auto opened = LifetimeReader::open(info[0].As<Napi::String>().Utf8Value(), span->from_ns, span->until_ns);
  if (!opened) return fail(env, opened.error());
  auto *shared = env.GetInstanceData<Environment>();
  const Napi::Object object = make_object(env, shared->lifetimes);
  if (object.IsEmpty()) return env.Undefined();
  keep_track(shared->lifetime_readers, opened.value());
  Unwrap(object)->reader_ = std::move(opened.value());
  return object;
}

LifetimesObject::LifetimesObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<LifetimesObject>(info) {}

bool LifetimesObject::is_open(Napi::Env env) const {
  if (reader_) return true;
  fail(env, kClosed);
  return false;
}

Napi::Value LifetimesObject::next(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (!reader_) return rejected(env, kClosed);
  const double count = info.Length() > 0 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : 0;
  if (!(count >= 1)) return rejected(env, "next() needs a number of allocations, 1 or more.");
  if (*busy_) return rejected(env, "next() is under way; wait for its promise.");
  *busy_ = true;
  const auto rows = std::make_shared<LifetimeRows>();
  const auto work = [reader = reader_, rows,
                     most = static_cast<size_t>(std::min(count, kMostRows))]() -> trace::Status {
    if (reader->next(most, *rows)) return std::nullopt;
    return trace::Error{kClosed};
  };
  return Promised::start(
      env, work,
      [rows](Napi::Env own) -> napi_value { return rows->rows.empty() ? own.Null() : lifetimes_answer(own, *rows); },
      [busy = busy_] { *busy = false; });
}

Napi::Value LifetimesObject::info(const Napi::CallbackInfo &info) {
  if (!is_open(info.Env())) return info.Env().Undefined();
  return info_answer(info.Env(), reader_->ask([](const Follower::View &view) { return info_data(view); }));
}

Napi::Value LifetimesObject::site(const Napi::CallbackInfo &info) {
  return is_open(info.Env()) ? tell_site(info, *reader_) : info.Env().Undefined();
}

void LifetimesObject::close(const Napi::CallbackInfo &) {
  if (reader_) reader_->stop();
  reader_.reset();
}

}  // namespace gmt::addon
