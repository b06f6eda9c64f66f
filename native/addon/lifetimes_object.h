#pragma once
// `LifetimeCursor` of extension/engine/native.d.ts.
#include "addon/trace_object.h"

namespace gmt::addon {

class LifetimesObject : public TraceObject<LifetimesObject, LifetimeReader> {
 public:
  static constexpr const char *kOpen = "openLifetimes";
  /// The constructor function; `open` calls it.
  static Napi::Function define(Napi::Env env);

  using TraceObject::TraceObject;

 private:
  Napi::Value next(const Napi::CallbackInfo &info);

  std::shared_ptr<bool> busy_ = std::make_shared<bool>(false);  ///< a call of next() is under way
};

}  // namespace gmt::addon
