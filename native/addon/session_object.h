#pragma once
// `NativeSession` of extension/engine/native.d.ts.
#include <napi.h>

#include <memory>

#include "addon/follower.h"
#include "addon/lifetime_reader.h"

namespace gmt::addon {

class SessionObject : public Napi::ObjectWrap<SessionObject> {
 public:
  /// The constructor function; `open` calls it.
  static Napi::Function define(Napi::Env env);
  /// A session over `path`. Leaves an Error pending where it cannot be opened.
  static Napi::Value open(const Napi::CallbackInfo &info);

  explicit SessionObject(const Napi::CallbackInfo &info);

 private:
  Napi::Value info(const Napi::CallbackInfo &info);
  Napi::Value revision(const Napi::CallbackInfo &info);
  Napi::Value sites(const Napi::CallbackInfo &info);
  Napi::Value site(const Napi::CallbackInfo &info);
  Napi::Value allocations(const Napi::CallbackInfo &info);
  Napi::Value timeline(const Napi::CallbackInfo &info);
  Napi::Value site_series(const Napi::CallbackInfo &info);
  Napi::Value ledger_series(const Napi::CallbackInfo &info);
  Napi::Value free_lines(const Napi::CallbackInfo &info);
  Napi::Value fragmentation(const Napi::CallbackInfo &info);
  Napi::Value segments(const Napi::CallbackInfo &info);
  Napi::Value blocks(const Napi::CallbackInfo &info);
  Napi::Value answer(const Napi::CallbackInfo &info);
  Napi::Value settle(const Napi::CallbackInfo &info);
  Napi::Value save(const Napi::CallbackInfo &info);
  void close(const Napi::CallbackInfo &info);

  /// False, with an Error pending, once the session was closed.
  bool is_open(Napi::Env env) const;

  std::shared_ptr<Follower> follower_;
};

/// What lives as long as one environment (one Node thread).
struct Environment {
  Napi::FunctionReference session;
  Napi::FunctionReference lifetimes;
  /// Told to stop before the environment goes.
  std::vector<std::weak_ptr<Follower>> followers;
  std::vector<std::weak_ptr<LifetimeReader>> lifetime_readers;
};

}  // namespace gmt::addon
