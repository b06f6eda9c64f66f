#pragma once
// What the addon's objects share: how they are made, how they say no, and what both answer.
#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "addon/answers/pack.gen.h"
#include "addon/follower.h"
#include "addon/lifetime_reader.h"
#include "addon/questions/read.gen.h"

namespace gmt::addon {

constexpr const char *kClosed = "The trace was closed; open it again.";

/// Leaves an Error pending.
inline Napi::Value fail(Napi::Env env, const std::string &sentence) {
  Napi::Error::New(env, sentence).ThrowAsJavaScriptException();
  return env.Undefined();
}

/// Leaves a TypeError pending.
inline Napi::Value refuse(Napi::Env env, const std::string &sentence) {
  Napi::TypeError::New(env, sentence).ThrowAsJavaScriptException();
  return env.Undefined();
}

/// Lives as long as one environment (one Node thread): each class's constructor, and the objects that must stop before that ends.
template <typename Reader>
struct Opened {
  Napi::FunctionReference constructor;
  std::vector<std::weak_ptr<Reader>> readers;
  void stop() {
    for (const auto &reader : readers)
      if (const auto alive = reader.lock()) alive->stop();
  }
};
struct Environment : Opened<Follower>, Opened<LifetimeReader> {};

/// The same of a list (pack.gen.h).
template <typename Row>
Napi::Array pack(Napi::Env env, const std::vector<Row> &rows) {
  return objects(env, rows, [&](const Row &row) { return pack(env, row); });
}
/// null where there is nothing.
template <typename Found>
Napi::Value pack(Napi::Env env, const std::optional<Found> &found) {
  return found ? pack(env, *found) : env.Null();
}

/// An object of the class `Own`, which answers from what `Reader` reads of a trace until it is closed.
template <typename Own, typename Reader>
class ReaderObject : public Napi::ObjectWrap<Own> {
 public:
  explicit ReaderObject(const Napi::CallbackInfo &info) : Napi::ObjectWrap<Own>(info) {}

  /// open(path, { fromNs?, untilNs? }): an object over that span of the session, or an Error that is left pending.
  static Napi::Value open(const Napi::CallbackInfo &info) {
    const Napi::Env env = info.Env();
    if (info.Length() < 1 || !info[0].IsString())
      return fail(env, std::string(Own::kOpen) + "() needs the path of a trace.");
    TimeSpan span;
    if (info.Length() > 1 && !info[1].IsUndefined()) {
      Fields fields(info, 1);
      span = {fields.whole("fromNs", span.from_ns), fields.whole("untilNs", span.until_ns)};
      if (!fields.ok()) return env.Undefined();
    }
    auto opened = Reader::open(info[0].As<Napi::String>().Utf8Value(), span);
    if (!opened) return fail(env, opened.error());
    Opened<Reader> &all = *env.GetInstanceData<Environment>();
    const Napi::Object object = all.constructor.New({});
    // A worker that is being ended makes no objects, and has no exception to report.
    if (env.IsExceptionPending() || object.IsEmpty()) return env.Undefined();
    std::erase_if(all.readers, [](const auto &other) { return other.expired(); });
    all.readers.push_back(opened.value());
    Napi::ObjectWrap<Own>::Unwrap(object)->reader_ = std::move(opened.value());
    return object;
  }

 protected:
  /// False, with an Error pending, once it was closed.
  bool is_open(Napi::Env env) const {
    if (!reader_) fail(env, kClosed);
    return reader_ != nullptr;
  }

  Napi::Value info(const Napi::CallbackInfo &info) {
    if (!is_open(info.Env())) return info.Env().Undefined();
    return info_answer(info.Env(), reader_->query(info_data));
  }

  /// site(id) and the like: what `Find` has of a site.
  template <auto Find>
  Napi::Value of_site(const Napi::CallbackInfo &info) {
    const Napi::Env env = info.Env();
    if (!is_open(env)) return env.Undefined();
    if (info.Length() < 1 || !info[0].IsNumber())
      return refuse(env, "site() and freeLines() need the number of a site.");
    const double number = info[0].As<Napi::Number>().DoubleValue();
    const uint32_t site = number >= 0 && number < model::kNone ? static_cast<uint32_t>(number) : model::kNone;
    return pack(env, reader_->query([&](const Follower::View &view) { return Find(view.state, site); }));
  }

  void close(const Napi::CallbackInfo &) {
    if (reader_) reader_->stop();
    reader_.reset();
  }

  std::shared_ptr<Reader> reader_;
};

}  // namespace gmt::addon
