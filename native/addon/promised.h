#pragma once
// Work beside the thread of JavaScript, as a promise.
#include <napi.h>

#include <functional>
#include <string>
#include <utility>

#include "trace/error.h"

namespace gmt::addon {

/// Runs `work` on a thread of Node's pool; its error rejects the promise. The promise is settled by the plain C interface, whose
/// failures are let go: work may come to its end while the environment does, and then no JavaScript can run or be told.
class Promised : public Napi::AsyncWorker {
 public:
  using Work = std::function<trace::Status()>;

  static Napi::Value start(Napi::Env env, Work work) {
    auto *worker = new Promised(env, std::move(work));  // deletes itself
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
    if (status != napi_cancelled && napi_open_handle_scope(env, &scope) == napi_ok) {
      settle(env);
      napi_close_handle_scope(env, scope);
    }
    Destroy();
  }

 private:
  Promised(Napi::Env env, Work work) : Napi::AsyncWorker(env), work_(std::move(work)) {}

  void settle(napi_env env) {
    napi_value text = nullptr, value = nullptr;
    if (error_.empty()) {
      if (napi_get_undefined(env, &value) == napi_ok) napi_resolve_deferred(env, deferred_, value);
    } else if (napi_create_string_utf8(env, error_.data(), error_.size(), &text) == napi_ok &&
               napi_create_error(env, nullptr, text, &value) == napi_ok) {
      napi_reject_deferred(env, deferred_, value);
    }
  }

  napi_deferred deferred_ = nullptr;
  Work work_;
  std::string error_;
};

}  // namespace gmt::addon
