#pragma once
// `LifetimeCursor` of extension/engine/native.d.ts.
#include <napi.h>

#include <memory>

#include "addon/lifetime_reader.h"

namespace gmt::addon {

class LifetimesObject : public Napi::ObjectWrap<LifetimesObject> {
 public:
  /// The constructor function; `open` calls it.
  static Napi::Function define(Napi::Env env);
  /// A cursor over `path`. Leaves an Error pending where it cannot be opened.
  static Napi::Value open(const Napi::CallbackInfo &info);

  explicit LifetimesObject(const Napi::CallbackInfo &info);

 private:
  Napi::Value next(const Napi::CallbackInfo &info);
  Napi::Value info(const Napi::CallbackInfo &info);
  Napi::Value site(const Napi::CallbackInfo &info);
  void close(const Napi::CallbackInfo &info);
  bool is_open(Napi::Env env) const;

  std::shared_ptr<LifetimeReader> reader_;
  std::shared_ptr<bool> busy_ = std::make_shared<bool>(false);  ///< a call of next() is under way
};

}  // namespace gmt::addon
