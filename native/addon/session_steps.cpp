// What a session answers about steps, single blocks and the agent.
#include "addon/session_object.h"

namespace gmt::addon {
namespace {

std::vector<BlockAnswer> with_sites(const model::State &state, const std::vector<model::BlockFacts> &blocks) {
  std::vector<BlockAnswer> out;
  for (const model::BlockFacts &facts : blocks)
    out.push_back({facts, facts.known ? state.accounts.site_of(facts.cell) : 0});
  return out;
}

}  // namespace

Napi::Value SessionObject::site_series(const Napi::CallbackInfo &info) {
  return reply<model::SiteSeriesQuery>(info, model::site_series, site_series_answer);
}

Napi::Value SessionObject::ledger_series(const Napi::CallbackInfo &info) {
  return reply<model::LedgerSeriesQuery>(info, model::ledger_series, ledger_series_answer);
}

Napi::Value SessionObject::passes(const Napi::CallbackInfo &info) {
  return reply<model::PassQuery>(info, model::passes, passes_answer);
}

Napi::Value SessionObject::ranges(const Napi::CallbackInfo &info) {
  return reply<model::PassQuery>(info, model::ranges);
}

Napi::Value SessionObject::free_lines(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (!is_open(env)) return env.Undefined();
  if (info.Length() < 1 || !info[0].IsNumber()) return refuse(env, "freeLines() needs the number of a site.");
  const double id = info[0].As<Napi::Number>().DoubleValue();
  if (!(id >= 0 && id < model::kNone)) return Napi::Array::New(env);
  return pack(env, follower_->ask([&](const Follower::View &view) {
    return model::free_lines(view.state, static_cast<uint32_t>(id));
  }));
}

Napi::Value SessionObject::fragmentation(const Napi::CallbackInfo &info) {
  const auto find = [](const model::State &state, const DeviceQuery &query) {
    return model::fragmentation(state, query.process, query.device);
  };
  return reply<DeviceQuery>(info, find);
}

Napi::Value SessionObject::pools(const Napi::CallbackInfo &info) {
  if (!is_open(info.Env())) return info.Env().Undefined();
  return pack(info.Env(), follower_->ask([](const Follower::View &view) { return model::pools(view.state); }));
}

Napi::Value SessionObject::segments(const Napi::CallbackInfo &info) {
  return reply<model::SegmentQuery>(info, model::segments, segments_answer);
}

Napi::Value SessionObject::blocks(const Napi::CallbackInfo &info) {
  const auto find = [](const model::State &state, const BlocksQuery &query) {
    return with_sites(state, model::blocks(state, query.process, query.addresses));
  };
  return reply<BlocksQuery>(info, find);
}

Napi::Value SessionObject::answer(const Napi::CallbackInfo &info) {
  const auto find = [](const model::State &state, const AnswerQuery &query) -> std::optional<AgentAnswer> {
    const model::ProcessState *process = state.process(query.process);
    const model::Answer *answer = process ? process->answers.find(query.index) : nullptr;
    if (!answer) return std::nullopt;
    return AgentAnswer{about_answer(query.process, *answer), answer->complete() ? answer->text : "",
                       with_sites(state, answer->blocks)};
  };
  return reply<AnswerQuery>(info, find, [](Napi::Env env, const std::optional<AgentAnswer> &found) {
    return found ? pack(env, *found) : env.Null();
  });
}

}  // namespace gmt::addon
