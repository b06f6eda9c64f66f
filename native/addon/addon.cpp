// The module: `NativeAddon` of extension/engine/native.d.ts.
#include <napi.h>

#include "addon/control_file.h"
#include "addon/lifetimes_object.h"
#include "addon/program.h"
#include "addon/promised.h"
#include "addon/session_object.h"
#include "trace/snapshot/import_snapshot.h"
#include "wire/container.h"
#include "wire/layout.h"

namespace gmt::addon {
namespace {

void set_recording_from_js(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsString() || !info[1].IsBoolean()) {
    Napi::TypeError::New(env, "setRecording() needs a trace directory and true or false.").ThrowAsJavaScriptException();
    return;
  }
  StartAt start;
  if (info.Length() > 2 && info[2].IsObject()) {
    const auto fields = info[2].As<Napi::Object>();
    const auto number = [&](const char *name) {
      const Napi::Value value = fields.Get(name);
      return value.IsNumber() ? static_cast<uint64_t>(value.As<Napi::Number>().Int64Value()) : uint64_t{0};
    };
    start = {number("step"), number("reservedBytes")};
  }
  const trace::Status status =
      set_recording(info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::Boolean>().Value(), start);
  if (status) Napi::Error::New(env, status->message).ThrowAsJavaScriptException();
}

Napi::Value import_snapshot_from_js(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsString() || !info[1].IsString()) {
    Napi::TypeError::New(env, "importSnapshot() needs the paths of a snapshot and of the trace to write.")
        .ThrowAsJavaScriptException();
    return env.Undefined();
  }
  return Promised::start(
      env, [pickle = info[0].As<Napi::String>().Utf8Value(), gputrace = info[1].As<Napi::String>().Utf8Value()] {
        return trace::import_snapshot(pickle, gputrace);
      });
}

Napi::Value version(const Napi::CallbackInfo &info) {
  auto versions = Napi::Object::New(info.Env());
  versions.Set("wire", GMT_LOG_VERSION);
  versions.Set("trace", GMT_TRACE_VERSION);
  return versions;
}

/// Before an environment goes, everyone who waits in it is let go; the sessions' threads end with their objects.
void stop_readers(Environment *environment) {
  for (const auto &follower : environment->followers) {
    if (const auto alive = follower.lock()) alive->stop();
  }
  for (const auto &reader : environment->lifetime_readers) {
    if (const auto alive = reader.lock()) alive->stop();
  }
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto *environment = new Environment;  // deleted by the environment
  environment->session = Napi::Persistent(SessionObject::define(env));
  environment->lifetimes = Napi::Persistent(LifetimesObject::define(env));
  env.SetInstanceData(environment);
  env.AddCleanupHook(stop_readers, environment);
  exports.Set("open", Napi::Function::New<SessionObject::open>(env, "open"));
  exports.Set("openLifetimes", Napi::Function::New<LifetimesObject::open>(env, "openLifetimes"));
  exports.Set("setRecording", Napi::Function::New<set_recording_from_js>(env, "setRecording"));
  exports.Set("importSnapshot", Napi::Function::New<import_snapshot_from_js>(env, "importSnapshot"));
  exports.Set("startProgram", Napi::Function::New<start_program>(env, "startProgram"));
  exports.Set("endOnSignals", Napi::Function::New<end_on_signals>(env, "endOnSignals"));
  exports.Set("version", Napi::Function::New<version>(env, "version"));
  return exports;
}

}  // namespace
}  // namespace gmt::addon

static Napi::Object init_module(Napi::Env env, Napi::Object exports) { return gmt::addon::init(env, exports); }
NODE_API_MODULE(gpu_memory_trace, init_module)
