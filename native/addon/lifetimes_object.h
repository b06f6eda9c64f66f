#pragma once
// `LifetimeCursor` of extension/native/native.d.ts.
#include <algorithm>

#include "addon/promise_worker.h"
#include "addon/reader_object.h"
#include "addon/trace_object.h"

namespace gmt::addon {

class LifetimesObject : public ReaderObject<LifetimesObject, LifetimeReader> {
 public:
  static constexpr const char *kOpen = "openLifetimes";
  /// The constructor function; `open` calls it.
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "LifetimeCursor",
                       {
                           InstanceMethod<&LifetimesObject::next>("next"),
                           InstanceMethod<&LifetimesObject::add_names_of>("addNamesOf"),
                           InstanceMethod("info", &LifetimesObject::info),
                           InstanceMethod("site", &LifetimesObject::of_site<model::site>),
                           InstanceMethod("close", &LifetimesObject::close),
                       });
  }

  using ReaderObject::ReaderObject;

 private:
  static constexpr double kMostRows = 1 << 20;
  static Napi::Value rejected(Napi::Env env, const std::string &sentence) {
    const auto deferred = Napi::Promise::Deferred::New(env);
    deferred.Reject(Napi::Error::New(env, sentence).Value());
    return deferred.Promise();
  }

  Napi::Value next(const Napi::CallbackInfo &info) {
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
    return PromiseWorker::start(
        env, work, [rows](Napi::Env own) -> napi_value { return rows->rows.empty() ? own.Null() : pack(own, *rows); },
        [busy = busy_] { *busy = false; });
  }

  void add_names_of(const Napi::CallbackInfo &info) {
    if (!is_open(info.Env())) return;
    if (const auto later = TraceObject::follower(info[0])) reader_->add_names_of(*later);
  }

  std::shared_ptr<bool> busy_ = std::make_shared<bool>(false);  ///< a call of next() is under way
};

}  // namespace gmt::addon
