#pragma once
// `NativeTrace` of extension/native/native.d.ts.
#include "addon/promise_worker.h"
#include "addon/reader_object.h"
#include "session/stored_checkpoints.h"

namespace gmt::addon {

class TraceObject : public ReaderObject<TraceObject, Follower> {
 public:
  static constexpr const char *kOpen = "open";
  /// What reads another such object, an argument; nullptr where it was closed or is none.
  static std::shared_ptr<Follower> follower(const Napi::Value &trace) {
    return trace.IsObject() ? Unwrap(trace.As<Napi::Object>())->reader_ : nullptr;
  }
  /// The constructor function; `open` calls it.
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "NativeTrace",
                       {
                           InstanceMethod("info", &TraceObject::info),
                           InstanceMethod<&TraceObject::revision>("revision"),
                           InstanceMethod<&TraceObject::next>("next"),
                           InstanceMethod<&TraceObject::reply<model::sites>>("sites"),
                           InstanceMethod("site", &TraceObject::of_site<model::site>),
                           InstanceMethod<&TraceObject::reply<model::allocations>>("allocations"),
                           InstanceMethod<&TraceObject::reply<model::timeline>>("timeline"),
                           InstanceMethod<&TraceObject::reply<model::site_series>>("siteSeries"),
                           InstanceMethod<&TraceObject::reply<model::ledger_series>>("ledgerSeries"),
                           InstanceMethod<&TraceObject::reply<model::passes>>("passes"),
                           InstanceMethod<&TraceObject::reply<model::ranges>>("ranges"),
                           InstanceMethod("freeLines", &TraceObject::of_site<model::free_lines>),
                           InstanceMethod<&TraceObject::reply<fragmentation>>("fragmentation"),
                           InstanceMethod<&TraceObject::pools>("pools"),
                           InstanceMethod<&TraceObject::reply<model::segments>>("segments"),
                           InstanceMethod<&TraceObject::reply<blocks>>("blocks"),
                           InstanceMethod<&TraceObject::reply<answer>>("answer"),
                           InstanceMethod<&TraceObject::settle>("settle"),
                           InstanceMethod<&TraceObject::save>("save"),
                           InstanceMethod("close", &TraceObject::close),
                       });
  }

  using ReaderObject::ReaderObject;

 private:
  static std::vector<BlockAnswer> with_sites(const model::State &state, const std::vector<model::BlockFacts> &blocks) {
    std::vector<BlockAnswer> out;
    for (const model::BlockFacts &facts : blocks)
      out.push_back({facts, facts.known ? state.accounts.site_of(facts.cell) : 0});
    return out;
  }
  static std::vector<BlockAnswer> blocks(const model::State &state, const model::BlocksQuery &query) {
    return with_sites(state, model::blocks(state, query.process, query.addresses));
  }
  static model::Fragmentation fragmentation(const model::State &state, const model::DeviceQuery &query) {
    return model::fragmentation(state, query.process, query.device);
  }
  static std::optional<AgentAnswer> answer(const model::State &state, const model::AnswerQuery &query) {
    const model::ProcessState *process = state.process(query.process);
    const model::Answer *answer = process ? process->answers.find(query.index) : nullptr;
    if (!answer) return std::nullopt;
    return AgentAnswer{about_answer(query.process, *answer), answer->complete() ? answer->text : "",
                       with_sites(state, answer->blocks)};
  }
  template <typename Found, typename Query>
  static Query query_of(Found (*)(const model::State &, const Query &));

  Napi::Value revision(const Napi::CallbackInfo &info) {
    if (!is_open(info.Env())) return info.Env().Undefined();
    return Napi::Number::New(info.Env(), static_cast<double>(reader_->revision()));
  }
  Napi::Value next(const Napi::CallbackInfo &info) {
    const Napi::Env env = info.Env();
    if (!is_open(env)) return env.Undefined();
    if (info.Length() < 1 || !info[0].IsFunction()) return refuse(env, "next() needs a function.");
    const auto release = [](Napi::ThreadSafeFunction *call) {
      call->Release();
      delete call;
    };
    const std::shared_ptr<Napi::ThreadSafeFunction> call(
        new Napi::ThreadSafeFunction(Napi::ThreadSafeFunction::New(env, info[0].As<Napi::Function>(), "next", 0, 1)),
        release);
    reader_->next([call](bool caught_up) {
      call->NonBlockingCall(
          [caught_up](Napi::Env from, Napi::Function found) { found.Call({Napi::Boolean::New(from, caught_up)}); });
    });
    return env.Undefined();
  }
  Napi::Value settle(const Napi::CallbackInfo &info) {
    if (!is_open(info.Env())) return info.Env().Undefined();
    const auto later = follower(info[0]);
    return PromiseWorker::start(info.Env(), [follower = reader_, later]() -> trace::Status {
      if (!follower->settle()) return trace::Error{kClosed};
      if (later) follower->add_names_of(*later);
      return std::nullopt;
    });
  }
  Napi::Value save(const Napi::CallbackInfo &info) {
    const Napi::Env env = info.Env();
    if (!is_open(env)) return env.Undefined();
    if (info.Length() < 1 || !info[0].IsString()) return fail(env, "save() needs the path of the file to write.");
    const std::string json = info.Length() > 1 && info[1].IsString() ? info[1].As<Napi::String>().Utf8Value() : "";
    return PromiseWorker::start(env, [follower = reader_, target = info[0].As<Napi::String>().Utf8Value(), json] {
      const auto logs = follower->query([](const Follower::View &view) { return view.reader.open_logs(); });
      const session::DirectoryLock last(follower->path(), session::DirectoryLock::kCopier,
                                        session::DirectoryLock::Way::kTogether);
      return session::save(follower->path(), target, json, logs);
    });
  }
  Napi::Value pools(const Napi::CallbackInfo &info) {
    if (!is_open(info.Env())) return info.Env().Undefined();
    return pack(info.Env(), reader_->query([](const Follower::View &view) { return model::pools(view.state); }));
  }
  /// What `Find` finds for the call's query. What has a revision gets the follower's.
  template <auto Find>
  Napi::Value reply(const Napi::CallbackInfo &info) {
    if (!is_open(info.Env())) return info.Env().Undefined();
    decltype(query_of(Find)) query;
    Fields fields(info);
    read(fields, query);
    if (!fields.ok()) return info.Env().Undefined();
    return pack(info.Env(), reader_->query([&](const Follower::View &view) {
      auto found = Find(view.state, query);
      if constexpr (requires { found.revision; }) found.revision = view.revision;
      return found;
    }));
  }
};

}  // namespace gmt::addon
