// The module: `NativeAddon` of extension/native/native.d.ts.
#include <fcntl.h>
#include <napi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "addon/allocator_replay.h"
#include "addon/lifetimes_object.h"
#include "addon/program.h"
#include "addon/promise_worker.h"
#include "addon/trace_object.h"
#include "trace/snapshot/import_snapshot.h"
#include "wire/files.h"
#include "wire/layout.h"
#include "wire/secrets.h"

namespace gmt::addon {
namespace {

/// What switches recording on by itself; 0 = nothing.
struct StartAt {
  uint64_t step = 0;
  uint64_t reserved_bytes = 0;
};

trace::Error failure(const std::string &file, const char *what) {
  return {"Recording could not be turned on or off: " + file + " cannot be " + what + " (" + std::strerror(errno) +
          "); check that the trace directory exists and belongs to you."};
}

/// A process may switch it on at the same time: each change counts once.
void write_word(gmt_control &control, bool on, const StartAt &start) {
  const bool fresh = __atomic_load_n(&control.magic, __ATOMIC_ACQUIRE) != GMT_CONTROL_MAGIC;
  __atomic_store_n(&control.version, 1u, __ATOMIC_RELAXED);
  __atomic_store_n(&control.start_step, start.step, __ATOMIC_RELAXED);
  __atomic_store_n(&control.start_reserved, start.reserved_bytes, __ATOMIC_RELAXED);
  const uint32_t before = __atomic_exchange_n(&control.recording, on ? 1u : 0u, __ATOMIC_ACQ_REL);
  if (fresh || before != (on ? 1u : 0u)) __atomic_fetch_add(&control.generation, 1u, __ATOMIC_RELEASE);
  __atomic_store_n(&control.magic, GMT_CONTROL_MAGIC, __ATOMIC_RELEASE);
}

/// Switches recording in the trace directory on or off; makes the control file, which every traced process watches, when it is absent.
trace::Status set_recording(const std::string &directory, bool on, const StartAt &start) {
  const std::string file = directory + "/control";
  const Descriptor fd(open_file(file.c_str(), O_RDWR | O_CREAT, FileLinks::kRefused));
  if (fd < 0) return failure(file, "opened");
  // With its place on the disk: a first write to a mapped hole ends the process where the disk is full (SIGBUS).
  do errno = ::posix_fallocate(fd, 0, sizeof(gmt_control));
  while (errno == EINTR);
  void *mapped =
      errno == 0 ? ::mmap(nullptr, sizeof(gmt_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (mapped == MAP_FAILED) return failure(file, "written");
  write_word(*static_cast<gmt_control *>(mapped), on, start);
  ::munmap(mapped, sizeof(gmt_control));
  return std::nullopt;
}

void set_recording_from_js(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsString() || !info[1].IsBoolean())
    return void(refuse(env, "setRecording() needs a trace directory and true or false."));
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
  if (status) fail(env, status->message);
}

Napi::Value import_snapshot_from_js(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsString() || !info[1].IsString())
    return refuse(env, "importSnapshot() needs the paths of a snapshot and of the trace to write.");
  return PromiseWorker::start(
      env, [pickle = info[0].As<Napi::String>().Utf8Value(), gputrace = info[1].As<Napi::String>().Utf8Value()] {
        return trace::import_snapshot(pickle, gputrace);
      });
}

/// The words of a command line, without its secrets.
Napi::Value mask_secrets_from_js(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsArray()) return refuse(env, "maskSecrets() needs the words of a command line.");
  const auto words = info[0].As<Napi::Array>();
  std::string text;
  for (uint32_t i = 0; i < words.Length(); ++i) text += words.Get(i).ToString().Utf8Value() + '\0';
  text.resize(secrets::mask_command(text.data(), text.size()));
  auto masked = Napi::Array::New(env);
  for (size_t from = 0, end = 0; (end = text.find('\0', from)) != text.npos; from = end + 1)
    masked.Set(masked.Length(), text.substr(from, end - from));
  return masked;
}

/// Before an environment goes, every wait in it ends; the sessions' threads end with their objects.
void stop_readers(Environment *environment) {
  environment->Opened<Follower>::stop();
  environment->Opened<LifetimeReader>::stop();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto *environment = new Environment;  // deleted by the environment
  environment->Opened<Follower>::constructor = Napi::Persistent(TraceObject::define(env));
  environment->Opened<LifetimeReader>::constructor = Napi::Persistent(LifetimesObject::define(env));
  env.SetInstanceData(environment);
  env.AddCleanupHook(stop_readers, environment);
  exports.Set("version", GMT_VERSION);
  exports.Set("open", Napi::Function::New<TraceObject::open>(env, "open"));
  exports.Set("openLifetimes", Napi::Function::New<LifetimesObject::open>(env, "openLifetimes"));
  exports.Set("setRecording", Napi::Function::New<set_recording_from_js>(env, "setRecording"));
  exports.Set("importSnapshot", Napi::Function::New<import_snapshot_from_js>(env, "importSnapshot"));
  exports.Set("maskSecrets", Napi::Function::New<mask_secrets_from_js>(env, "maskSecrets"));
  exports.Set("replayAllocator", Napi::Function::New<replay_allocator>(env, "replayAllocator"));
  exports.Set("findPools", Napi::Function::New<find_pools>(env, "findPools"));
  exports.Set("startProgram", Napi::Function::New<start_program>(env, "startProgram"));
  exports.Set("endOnSignals", Napi::Function::New<end_on_signals>(env, "endOnSignals"));
  return exports;
}

}  // namespace
}  // namespace gmt::addon

static Napi::Object init_module(Napi::Env env, Napi::Object exports) { return gmt::addon::init(env, exports); }
NODE_API_MODULE(gpu_memory_trace, init_module)
