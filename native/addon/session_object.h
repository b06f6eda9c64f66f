#pragma once
// `NativeSession` of extension/engine/native.d.ts.
#include "addon/trace_object.h"

namespace gmt::addon {

class SessionObject : public TraceObject<SessionObject, Follower> {
 public:
  static constexpr const char *kOpen = "open";
  /// The constructor function; `open` calls it.
  static Napi::Function define(Napi::Env env);

  using TraceObject::TraceObject;

 private:
  Napi::Value revision(const Napi::CallbackInfo &info);
  Napi::Value advance(const Napi::CallbackInfo &info);
  Napi::Value settle(const Napi::CallbackInfo &info);
  Napi::Value save(const Napi::CallbackInfo &info);
  Napi::Value pools(const Napi::CallbackInfo &info);
  template <auto Find>
  Napi::Value reply(const Napi::CallbackInfo &info);
};

}  // namespace gmt::addon
