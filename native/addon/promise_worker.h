#pragma once
// A promise for what another thread does.
#include <napi.h>

#include <functional>
#include <string>
#include <utility>

#include "trace/error.h"

namespace gmt::addon {

/// Runs `work` on a thread of Node's pool; its error rejects the promise, else `make` gives the value, on Node's own thread.
/// The promise is settled by the plain C interface, whose failures are let go: work may come to its end while the
/// environment does, and then no JavaScript can run.
class PromiseWorker : public Napi::AsyncWorker {
 public:
  using Work = std::function<trace::Status()>;
  using Make = std::function<napi_value(Napi::Env)>;

  /// `done` is called on Node's own thread before the promise is settled.
  static Napi::Value start(Napi::Env env, Work work, Make make = nothing, std::function<void()> done = {}) {
    auto *worker = new PromiseWorker(env, std::move(work), std::move(make), std::move(done));  // deletes itself
    napi_value promise = nullptr;
    if (napi_create_promise(env, &worker->deferred_, &promise) != napi_ok) {
      delete worker;
      return {};
    }
    worker->Queue();
    return Napi::Value(env, promise);
  }

 protected:
  void Execute() override {
    if (const trace::Status status = work_()) error_ = status->message;
  }

  void OnWorkComplete(Napi::Env env, napi_status status) override {
    napi_handle_scope scope = nullptr;
    if (done_) done_();
    if (status != napi_cancelled && napi_open_handle_scope(env, &scope) == napi_ok) {
      settle(env);
      napi_close_handle_scope(env, scope);
    }
    Destroy();
  }

 private:
  PromiseWorker(Napi::Env env, Work work, Make make, std::function<void()> done)
      : Napi::AsyncWorker(env), work_(std::move(work)), make_(std::move(make)), done_(std::move(done)) {}

  static napi_value nothing(Napi::Env env) { return env.Undefined(); }

  /// False while the environment ends: then no value can be made.
  static bool makes_values(napi_env env) {
    napi_value buffer = nullptr;
    void *data = nullptr;
    return napi_create_arraybuffer(env, 0, &data, &buffer) == napi_ok;
  }

  void settle(napi_env env) {
    napi_value text = nullptr, value = nullptr;
    if (error_.empty()) {
      if (makes_values(env)) napi_resolve_deferred(env, deferred_, make_(Napi::Env(env)));
    } else if (napi_create_string_utf8(env, error_.data(), error_.size(), &text) == napi_ok &&
               napi_create_error(env, nullptr, text, &value) == napi_ok) {
      napi_reject_deferred(env, deferred_, value);
    }
  }

  napi_deferred deferred_ = nullptr;
  Work work_;
  Make make_;
  std::function<void()> done_;
  std::string error_;
};

}  // namespace gmt::addon
