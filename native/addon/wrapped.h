#pragma once
// What the addon's objects share: how they are made, and how they say no.
#include <napi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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

/// A new object of the class; empty in a worker that is being ended: it makes no objects, and has no exception to tell.
inline Napi::Object make_object(Napi::Env env, const Napi::FunctionReference &constructor) {
  const Napi::Object object = constructor.New({});
  return env.IsExceptionPending() ? Napi::Object() : object;
}

/// Adds to a list of what is to stop before the environment goes.
template <typename Running>
void keep_track(std::vector<std::weak_ptr<Running>> &all, const std::shared_ptr<Running> &one) {
  std::erase_if(all, [](const auto &other) { return other.expired(); });
  all.push_back(one);
}

}  // namespace gmt::addon
