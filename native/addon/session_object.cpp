#include "addon/session_object.h"

#include "addon/promised.h"
#include "addon/wrapped.h"

namespace gmt::addon {

Napi::Function SessionObject::define(Napi::Env env) {
  return DefineClass(env, "NativeSession",
                     {
                         InstanceMethod<&SessionObject::info>("info"),
                         InstanceMethod<&SessionObject::revision>("revision"),
                         InstanceMethod<&SessionObject::advance>("advance"),
                         InstanceMethod<&SessionObject::sites>("sites"),
                         InstanceMethod<&SessionObject::site>("site"),
                         InstanceMethod<&SessionObject::allocations>("allocations"),
                         InstanceMethod<&SessionObject::timeline>("timeline"),
                         InstanceMethod<&SessionObject::site_series>("siteSeries"),
                         InstanceMethod<&SessionObject::ledger_series>("ledgerSeries"),
                         InstanceMethod<&SessionObject::passes>("passes"),
                         InstanceMethod<&SessionObject::ranges>("ranges"),
                         InstanceMethod<&SessionObject::free_lines>("freeLines"),
                         InstanceMethod<&SessionObject::fragmentation>("fragmentation"),
                         InstanceMethod<&SessionObject::pools>("pools"),
                         InstanceMethod<&SessionObject::segments>("segments"),
                         InstanceMethod<&SessionObject::blocks>("blocks"),
                         InstanceMethod<&SessionObject::answer>("answer"),
                         InstanceMethod<&SessionObject::settle>("settle"),
                         InstanceMethod<&SessionObject::save>("save"),
                         InstanceMethod<&SessionObject::close>("close"),
                     });
}

Napi::Value SessionObject::open(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsString()) return fail(env, "open() needs the path of a trace.");
  const auto span = time_span(info);
  if (!span) return env.Undefined();
  auto opened = Follower::open(info[0].As<Napi::String>().Utf8Value(), span->until_ns);
  if (!opened) return fail(env, opened.error());
  auto *shared = env.GetInstanceData<Environment>();
  const Napi::Object object = make_object(env, shared->session);
  if (object.IsEmpty()) return env.Undefined();
  keep_track(shared->followers, opened.value());
  Unwrap(object)->follower_ = std::move(opened.value());
  return object;
}

SessionObject::SessionObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<SessionObject>(info) {}

bool SessionObject::is_open(Napi::Env env) const {
  if (follower_) return true;
  fail(env, kClosed);
  return false;
}

Napi::Value SessionObject::info(const Napi::CallbackInfo &info) {
  if (!is_open(info.Env())) return info.Env().Undefined();
  return info_answer(info.Env(), follower_->ask([](const Follower::View &view) { return info_data(view); }));
}

Napi::Value SessionObject::revision(const Napi::CallbackInfo &info) {
  if (!is_open(info.Env())) return info.Env().Undefined();
  return Napi::Number::New(info.Env(), static_cast<double>(follower_->revision()));
}

Napi::Value SessionObject::advance(const Napi::CallbackInfo &info) {
  if (!is_open(info.Env())) return info.Env().Undefined();
  return Napi::Boolean::New(info.Env(), follower_->advance());
}

Napi::Value SessionObject::sites(const Napi::CallbackInfo &info) { return reply<model::SiteQuery>(info, model::sites); }

Napi::Value SessionObject::site(const Napi::CallbackInfo &info) {
  return is_open(info.Env()) ? tell_site(info, *follower_) : info.Env().Undefined();
}

Napi::Value SessionObject::allocations(const Napi::CallbackInfo &info) {
  return reply<model::AllocationQuery>(info, model::allocations);
}

Napi::Value SessionObject::timeline(const Napi::CallbackInfo &info) {
  return reply<model::TimelineQuery>(info, model::timeline, timeline_answer);
}

Napi::Value SessionObject::settle(const Napi::CallbackInfo &info) {
  if (!is_open(info.Env())) return info.Env().Undefined();
  return Promised::start(info.Env(), [follower = follower_]() -> trace::Status {
    if (follower->settle()) return std::nullopt;
    return trace::Error{kClosed};
  });
}

Napi::Value SessionObject::save(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (!is_open(env)) return env.Undefined();
  if (info.Length() < 1 || !info[0].IsString()) return fail(env, "save() needs the path of the file to write.");
  const std::string json = info.Length() > 1 && info[1].IsString() ? info[1].As<Napi::String>().Utf8Value() : "";
  return Promised::start(env, [follower = follower_, target = info[0].As<Napi::String>().Utf8Value(), json] {
    const auto logs = follower->ask([](const Follower::View &view) { return view.reader.open_logs(); });
    return session::save(follower->path(), target, json, logs);
  });
}

void SessionObject::close(const Napi::CallbackInfo &) {
  if (follower_) follower_->stop();
  follower_.reset();
}

}  // namespace gmt::addon
