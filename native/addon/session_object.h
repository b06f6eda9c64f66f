#pragma once
// `NativeSession` of extension/engine/native.d.ts.
#include <napi.h>

#include <memory>
#include <optional>
#include <type_traits>

#include "addon/answers/pack.gen.h"
#include "addon/follower.h"
#include "addon/lifetime_reader.h"
#include "addon/questions/queries_from_js.h"
#include "addon/wrapped.h"

namespace gmt::addon {

/// The same of a list (pack.gen.h).
template <typename Row>
Napi::Array pack(Napi::Env env, const std::vector<Row> &rows) {
  return objects(env, rows, [&](const Row &row) { return pack(env, row); });
}

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
  Napi::Value advance(const Napi::CallbackInfo &info);
  Napi::Value sites(const Napi::CallbackInfo &info);
  Napi::Value site(const Napi::CallbackInfo &info);
  Napi::Value allocations(const Napi::CallbackInfo &info);
  Napi::Value timeline(const Napi::CallbackInfo &info);
  Napi::Value site_series(const Napi::CallbackInfo &info);
  Napi::Value ledger_series(const Napi::CallbackInfo &info);
  Napi::Value passes(const Napi::CallbackInfo &info);
  Napi::Value ranges(const Napi::CallbackInfo &info);
  Napi::Value free_lines(const Napi::CallbackInfo &info);
  Napi::Value fragmentation(const Napi::CallbackInfo &info);
  Napi::Value pools(const Napi::CallbackInfo &info);
  Napi::Value segments(const Napi::CallbackInfo &info);
  Napi::Value blocks(const Napi::CallbackInfo &info);
  Napi::Value answer(const Napi::CallbackInfo &info);
  Napi::Value settle(const Napi::CallbackInfo &info);
  Napi::Value save(const Napi::CallbackInfo &info);
  void close(const Napi::CallbackInfo &info);

  /// False, with an Error pending, once the session was closed.
  bool is_open(Napi::Env env) const;

  /// `find` looks for what the call asks, `tell` makes the answer. What has a revision gets the follower's.
  template <typename Query, typename Find, typename Tell>
  Napi::Value reply(const Napi::CallbackInfo &info, Find find, Tell tell) {
    if (!is_open(info.Env())) return info.Env().Undefined();
    Query query;
    Fields fields(info);
    read(fields, query);
    if (!fields.ok()) return info.Env().Undefined();
    uint64_t revision = 0;
    auto found = follower_->ask([&](const Follower::View &view) {
      revision = view.revision;
      return find(view.state, query);
    });
    if constexpr (requires { found.revision; }) found.revision = revision;
    if constexpr (std::is_invocable_v<Tell, Napi::Env, decltype(found), uint64_t>)
      return tell(info.Env(), found, revision);
    else
      return tell(info.Env(), found);
  }

  /// The same where the answer is what was found.
  template <typename Query, typename Find>
  Napi::Value reply(const Napi::CallbackInfo &info, Find find) {
    return reply<Query>(info, find, [](Napi::Env env, const auto &found) -> Napi::Value { return pack(env, found); });
  }

  std::shared_ptr<Follower> follower_;
};

/// site(id), answered by what reads the trace.
template <typename Reader>
Napi::Value tell_site(const Napi::CallbackInfo &info, Reader &reader) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsNumber()) return fail(env, "site() needs the number of a site.");
  const double id = info[0].As<Napi::Number>().DoubleValue();
  if (!(id >= 0 && id < model::kNone)) return env.Null();
  const auto site =
      reader.ask([&](const Follower::View &view) { return model::site(view.state, static_cast<uint32_t>(id)); });
  return site ? pack(env, *site) : env.Null();
}

/// What lives as long as one environment (one Node thread).
struct Environment {
  Napi::FunctionReference session;
  Napi::FunctionReference lifetimes;
  /// Told to stop before the environment goes.
  std::vector<std::weak_ptr<Follower>> followers;
  std::vector<std::weak_ptr<LifetimeReader>> lifetime_readers;
};

}  // namespace gmt::addon
