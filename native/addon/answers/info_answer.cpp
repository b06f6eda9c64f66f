#include <algorithm>

#include "addon/answers/answers.h"

namespace gmt::addon {
namespace {

/// Of enum gmt_driver_source.
const char *driver_source(uint32_t source) {
  const bool known = source < model::Words<model::DriverSource>::kAll.size();
  return model::word_of(known ? static_cast<model::DriverSource>(source) : model::DriverSource::None);
}

void add_devices(std::vector<trace::Device> &all, const std::vector<trace::Device> &more) {
  for (const trace::Device &device : more) {
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const trace::Device &other) { return other.index == device.index; });
    if (!known) all.push_back(device);
  }
}

/// The text as an object; an empty one where it is none.
Napi::Object parse_object(Napi::Env env, const std::string &json) {
  if (json.empty()) return Napi::Object::New(env);
  const auto parser = env.Global().Get("JSON").As<Napi::Object>();
  const Napi::Value parsed = parser.Get("parse").As<Napi::Function>().Call(parser, {Napi::String::New(env, json)});
  if (env.IsExceptionPending()) {
    env.GetAndClearPendingException();
    return Napi::Object::New(env);
  }
  return parsed.IsObject() ? parsed.As<Napi::Object>() : Napi::Object::New(env);
}

/// The exit status that the launcher noted, null without one.
Napi::Value exit_code(Napi::Env env, const Napi::Object &session, uint32_t pid) {
  const Napi::Value list = session.Get("processes");
  if (!list.IsArray()) return env.Null();
  const auto processes = list.As<Napi::Array>();
  for (uint32_t i = 0; i < processes.Length(); ++i) {
    const Napi::Value entry = processes.Get(i);
    if (!entry.IsObject()) continue;
    const Napi::Value own = entry.As<Napi::Object>().Get("pid"), code = entry.As<Napi::Object>().Get("exitCode");
    if (own.IsNumber() && own.As<Napi::Number>().Int64Value() == pid && code.IsNumber()) return code;
  }
  return env.Null();
}

Napi::Value python_name(Napi::Env env, uint32_t version) {
  if (version == 0) return env.Null();
  return Napi::String::New(env, std::to_string(version >> 24) + "." + std::to_string(version >> 16 & 0xff));
}

Napi::Array threads_of(Napi::Env env, const std::vector<trace::Thread> &threads) {
  auto list = Napi::Array::New(env, threads.size());
  for (size_t i = 0; i < threads.size(); ++i) {
    auto thread = Napi::Object::New(env);
    thread.Set("index", threads[i].index);
    thread.Set("tid", threads[i].tid);
    thread.Set("name", threads[i].name);
    list.Set(static_cast<uint32_t>(i), thread);
  }
  return list;
}

Napi::Array notes_of(Napi::Env env, const std::vector<trace::Note> &notes) {
  auto list = Napi::Array::New(env, notes.size());
  for (size_t i = 0; i < notes.size(); ++i) {
    auto note = Napi::Object::New(env);
    note.Set("code", notes[i].code);
    note.Set("text", notes[i].text);
    list.Set(static_cast<uint32_t>(i), note);
  }
  return list;
}

Napi::Object process_of(Napi::Env env, const InfoData::Process &data, size_t index, const Napi::Object &session) {
  auto process = Napi::Object::New(env);
  process.Set("index", static_cast<double>(index));
  process.Set("pid", data.facts.pid);
  process.Set("parentPid", data.facts.parent_pid);
  process.Set("uid", data.facts.uid);
  auto command = Napi::Array::New(env, data.command.size());
  for (size_t i = 0; i < data.command.size(); ++i) command.Set(static_cast<uint32_t>(i), data.command[i]);
  process.Set("command", command);
  process.Set("exitCode", exit_code(env, session, data.facts.pid));
  process.Set("ended", Napi::Boolean::New(env, data.ended));
  process.Set("startNs", static_cast<double>(data.facts.start_ns));
  process.Set("python", python_name(env, data.python));
  process.Set("driverSource", driver_source(data.facts.driver_source));
  process.Set("simulated", Napi::Boolean::New(env, data.facts.simulated));
  process.Set("recording", Napi::Boolean::New(env, data.recording));
  process.Set("threads", threads_of(env, data.threads));
  process.Set("notes", notes_of(env, data.notes));
  return process;
}

Napi::Object totals_of(Napi::Env env, const model::LedgerNumbers &ledger, uint32_t pid) {
  auto totals = Napi::Object::New(env);
  const auto put = [&](const char *name, auto value) { totals.Set(name, static_cast<double>(value)); };
  put("process", ledger.process);
  put("pid", pid);
  put("device", model::device_number(ledger.device));
  totals.Set("layer", model::word_of(ledger.layer));
  put("liveBytes", ledger.live_bytes);
  put("liveCount", ledger.live_count);
  put("peakBytes", ledger.peak_bytes);
  put("peakNs", ledger.peak_ns);
  put("allocations", ledger.allocations);
  put("frees", ledger.frees);
  put("failed", ledger.failed);
  put("allocatedBytes", ledger.allocated_bytes);
  put("freedBytes", ledger.freed_bytes);
  put("unmatchedFrees", ledger.unmatched_frees);
  put("impliedFrees", ledger.implied_frees);
  put("segmentAllocations", ledger.segment_allocations);
  put("segmentFrees", ledger.segment_frees);
  return totals;
}

Napi::Object failure_of(Napi::Env env, const model::OutOfMemory &data) {
  auto failure = Napi::Object::New(env);
  const auto put = [&](const char *name, auto value) { failure.Set(name, static_cast<double>(value)); };
  put("process", data.process);
  put("device", data.device);
  failure.Set("layer", model::word_of(data.layer));
  put("requestedBytes", data.requested_bytes);
  put("timeNs", data.time_ns);
  put("site", data.site);
  put("liveBytes", data.live_bytes);
  put("thread", data.thread);
  failure.Set("snapshot", snapshot_answer(env, data.snapshot.get()));
  return failure;
}

Napi::Object losses_of(Napi::Env env, const trace::Losses &losses) {
  auto causes = Napi::Object::New(env);
  for (uint32_t cause = 0; cause < trace::kLossCauses; ++cause) {
    if (losses.count[cause] == 0) continue;
    causes.Set(std::string(trace::loss_name(cause)), static_cast<double>(losses.count[cause]));
  }
  auto lost = Napi::Object::New(env);
  lost.Set("events", static_cast<double>(losses.events()));
  lost.Set("byCause", causes);
  return lost;
}

void copy_processes(const Follower::View &view, InfoData &data) {
  trace::SessionReader &reader = view.reader;
  for (size_t i = 0; i < reader.process_count(); ++i) {
    const trace::ProcessTables &tables = reader.tables(i);
    data.processes.push_back({reader.facts(i), tables.command(), tables.python_version(), reader.ended(i),
                              view.state.recording(static_cast<uint32_t>(i)), tables.threads(), tables.notes()});
    add_devices(data.devices, tables.devices());
  }
  // What is to be said of the files belongs to no process; the first one shows it.
  if (data.processes.empty()) return;
  for (const std::string &note : reader.notes()) data.processes[0].notes.push_back({0, note});
}

}  // namespace

InfoData info_data(const Follower::View &view) {
  InfoData data{};
  data.revision = view.revision;
  data.events = view.state.events;
  data.duration_ns = view.state.now_ns;
  data.start_realtime_ns = view.reader.start_realtime_ns();
  data.live = view.live;
  const double seconds = static_cast<double>(data.duration_ns) * 1e-9;
  const double mean = seconds > 0 ? static_cast<double>(data.events) / seconds : 0;
  data.events_per_second = view.live ? view.events_per_second : mean;
  data.losses = view.reader.losses();
  data.session_json = view.session_json;
  copy_processes(view, data);
  data.ledgers.assign(view.state.accounts.ledgers().begin(), view.state.accounts.ledgers().end());
  data.out_of_memory.assign(view.state.out_of_memory.begin(), view.state.out_of_memory.end());
  data.out_of_memory_count = view.state.out_of_memory_count;
  data.steps = step_info(view);
  return data;
}

Napi::Value info_answer(Napi::Env env, const InfoData &data) {
  const Napi::Object session = parse_object(env, data.session_json);
  const auto list = [&](const auto &items, auto make) {
    auto array = Napi::Array::New(env, items.size());
    for (size_t i = 0; i < items.size(); ++i) array.Set(static_cast<uint32_t>(i), make(items[i], i));
    return array;
  };
  auto info = Napi::Object::New(env);
  info.Set("revision", static_cast<double>(data.revision));
  info.Set("live", Napi::Boolean::New(env, data.live));
  info.Set("events", static_cast<double>(data.events));
  info.Set("eventsPerSecond", data.events_per_second);
  info.Set("durationNs", static_cast<double>(data.duration_ns));
  info.Set("startRealtimeMs", static_cast<double>(data.start_realtime_ns) * 1e-6);
  info.Set("lost", losses_of(env, data.losses));
  info.Set("session", session);
  info.Set("processes", list(data.processes, [&](const InfoData::Process &process, size_t index) {
             return process_of(env, process, index, session);
           }));
  info.Set("devices", list(data.devices, [&](const trace::Device &known, size_t) {
             auto device = Napi::Object::New(env);
             device.Set("index", known.index);
             device.Set("name", known.name);
             device.Set("totalBytes", static_cast<double>(known.total_bytes));
             return device;
           }));
  info.Set("totals", list(data.ledgers, [&](const model::LedgerNumbers &ledger, size_t) {
             const bool known = ledger.process < data.processes.size();
             return totals_of(env, ledger, known ? data.processes[ledger.process].facts.pid : 0);
           }));
  info.Set("outOfMemory",
           list(data.out_of_memory, [&](const model::OutOfMemory &one, size_t) { return failure_of(env, one); }));
  info.Set("outOfMemoryCount", static_cast<double>(data.out_of_memory_count));
  put_step_info(env, info, data.steps);
  return info;
}

}  // namespace gmt::addon
