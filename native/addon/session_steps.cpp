// What a session answers about steps, single blocks and the agent.
#include "addon/answers.h"
#include "addon/queries_from_js.h"
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
  const auto query = is_open(info.Env()) ? site_series_query(info) : std::nullopt;
  if (!query) return info.Env().Undefined();
  uint64_t revision = 0;
  const auto series = follower_->ask([&](const Follower::View &view) {
    revision = view.revision;
    return model::site_series(view.state, *query);
  });
  return site_series_answer(info.Env(), series, revision);
}

Napi::Value SessionObject::ledger_series(const Napi::CallbackInfo &info) {
  const auto query = is_open(info.Env()) ? ledger_series_query(info) : std::nullopt;
  if (!query) return info.Env().Undefined();
  uint64_t revision = 0;
  const auto series = follower_->ask([&](const Follower::View &view) {
    revision = view.revision;
    return model::ledger_series(view.state, *query);
  });
  return ledger_series_answer(info.Env(), series, revision);
}

Napi::Value SessionObject::free_lines(const Napi::CallbackInfo &info) {
  const Napi::Env env = info.Env();
  if (!is_open(env)) return env.Undefined();
  if (info.Length() < 1 || !info[0].IsNumber()) {
    Napi::TypeError::New(env, "freeLines() needs the number of a site.").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const double id = info[0].As<Napi::Number>().DoubleValue();
  if (!(id >= 0 && id < model::kNone)) return Napi::Array::New(env);
  return free_lines_answer(env, follower_->ask([&](const Follower::View &view) {
    return model::free_lines(view.state, static_cast<uint32_t>(id));
  }));
}

Napi::Value SessionObject::fragmentation(const Napi::CallbackInfo &info) {
  const auto query = is_open(info.Env()) ? device_query(info) : std::nullopt;
  if (!query) return info.Env().Undefined();
  return fragmentation_answer(info.Env(), follower_->ask([&](const Follower::View &view) {
    return model::fragmentation(view.state, query->process, query->device);
  }));
}

Napi::Value SessionObject::segments(const Napi::CallbackInfo &info) {
  const auto query = is_open(info.Env()) ? segment_query(info) : std::nullopt;
  if (!query) return info.Env().Undefined();
  uint64_t revision = 0;
  const auto map = follower_->ask([&](const Follower::View &view) {
    revision = view.revision;
    return model::segments(view.state, *query);
  });
  return segments_answer(info.Env(), map, revision);
}

Napi::Value SessionObject::blocks(const Napi::CallbackInfo &info) {
  const auto query = is_open(info.Env()) ? blocks_query(info) : std::nullopt;
  if (!query) return info.Env().Undefined();
  return blocks_answer(info.Env(), follower_->ask([&](const Follower::View &view) {
    return with_sites(view.state, model::blocks(view.state, query->process, query->addresses));
  }));
}

Napi::Value SessionObject::answer(const Napi::CallbackInfo &info) {
  const auto query = is_open(info.Env()) ? answer_query(info) : std::nullopt;
  if (!query) return info.Env().Undefined();
  const auto found = follower_->ask([&](const Follower::View &view) -> std::optional<AgentAnswer> {
    const model::ProcessState *state = view.state.process(query->process);
    const model::Answer *answer = state ? state->answers.find(query->index) : nullptr;
    if (!answer) return std::nullopt;
    return AgentAnswer{query->process, *answer, with_sites(view.state, answer->blocks)};
  });
  return found ? agent_answer(info.Env(), *found) : info.Env().Null();
}

}  // namespace gmt::addon
