#include <algorithm>

#include "addon/answers/pack.gen.h"

namespace gmt::addon {
namespace {

void add_devices(std::vector<trace::Device> &all, const std::vector<trace::Device> &more) {
  for (const trace::Device &device : more) {
    if (std::ranges::find(all, device.index, &trace::Device::index) == all.end()) all.push_back(device);
  }
}

/// The text as an object; an empty one where it is none.
Napi::Object parse_object(Napi::Env env, const std::string &json) {
  if (json.empty()) return Napi::Object::New(env);
  // A worker that is being ended runs no JavaScript any more: what is read of an object is empty then.
  const Napi::Value parser = env.Global().Get("JSON");
  const Napi::Value parse = parser.IsObject() ? parser.As<Napi::Object>().Get("parse") : env.Null();
  if (!parse.IsFunction()) return Napi::Object::New(env);
  const Napi::Value parsed = parse.As<Napi::Function>().Call(parser, {Napi::String::New(env, json)});
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

void add_steps(const model::State &state, const model::ProcessState &process, InfoData &data) {
  const uint32_t number = process.number;
  const model::ProcessSteps &steps = process.steps;
  const bool loop = steps.source == model::StepSource::Periodic;
  data.steps.push_back({number, steps.source, process.frame->step - 1, steps.last_end_ns, !loop || steps.sure,
                        loop && steps.alone, loop && steps.parts, loop ? steps.idle_ns() : 0,
                        process.pools.known_ns(state.now_ns), steps.touched});
  const auto add_pauses = [&](const auto &intervals, bool of_driver) {
    for (const model::Interval &one : intervals) data.pauses.push_back({number, of_driver, one.begin_ns, one.end_ns});
  };
  add_pauses(process.pauses, false);
  add_pauses(process.gaps, true);
  for (const model::CategoryRow &row : model::categories(state, number)) data.categories.push_back({row, number});
  for (const model::Answer &one : process.answers.answers()) data.answers.push_back(about_answer(number, one));
}

void copy_processes(const Follower::View &view, InfoData &data) {
  trace::LogMerger &reader = view.reader;
  for (uint32_t i = 0; i < reader.process_count(); ++i) {
    const trace::ProcessTables &tables = reader.tables(i);
    data.processes.push_back({i, reader.facts(i), tables.command(), tables.python_version(), reader.ended(i),
                              view.state.recording(i), tables.threads(), tables.notes()});
    add_devices(data.devices, tables.devices());
    if (const model::ProcessState *state = view.state.process(i)) add_steps(view.state, *state, data);
  }
  // Facts on the files belong to no process; the first one shows them.
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
  data.losses = view.reader.losses();
  data.session_json = view.session_json;
  copy_processes(view, data);
  for (const model::LedgerNumbers &ledger : view.state.accounts.ledgers()) {
    const bool known = ledger.process < data.processes.size();
    data.totals.push_back({ledger, known ? data.processes[ledger.process].facts.pid : 0});
  }
  data.out_of_memory.assign(view.state.out_of_memory.begin(), view.state.out_of_memory.end());
  data.out_of_memory_count = view.state.out_of_memory_count;
  return data;
}

Napi::Value info_answer(Napi::Env env, const InfoData &data) {
  const Napi::Object session = parse_object(env, data.session_json);
  auto info = pack(env, data);
  info.Set("lost", losses_of(env, data.losses));
  info.Set("session", session);
  const Napi::Value processes = info.Get("processes");
  for (uint32_t i = 0; processes.IsArray() && i < data.processes.size(); ++i) {
    const Napi::Value process = processes.As<Napi::Array>().Get(i);
    if (!process.IsObject()) break;
    process.As<Napi::Object>().Set("exitCode", exit_code(env, session, data.processes[i].facts.pid));
  }
  return info;
}

}  // namespace gmt::addon
