#pragma once
// Answers of the model as the JavaScript values that extension/protocol/trace.ts describes.
#include <napi.h>

#include <string>
#include <vector>

#include "addon/answers/objects.gen.h"
#include "addon/follower.h"
#include "addon/lifetime_reader.h"
#include "model/model.h"
#include "model/query/questions.h"

namespace gmt::addon {

/// A block and the site that it is shown under.
struct BlockAnswer {
  model::BlockFacts facts;
  uint32_t site;
};
inline AnswerInfo about_answer(uint32_t process, const model::Answer &one) {
  return {process, one.index, one.request, one.time_ns, one.complete()};
}
struct AgentAnswer : AnswerInfo {
  std::string text;
  std::vector<BlockAnswer> blocks;
};

/// What TraceInfo shows, copied out while the follower waits.
struct ProcessData {
  uint32_t index;
  trace::ProcessFacts facts;
  std::vector<std::string> command;
  uint32_t python;
  bool ended;
  bool recording;
  std::vector<trace::Thread> threads;
  std::vector<trace::Note> notes;
};
struct TotalsData : model::LedgerNumbers {
  uint32_t pid;
};
struct CategoryData : model::CategoryRow {
  uint32_t process;
};
struct InfoData {
  uint64_t revision, events, duration_ns, start_realtime_ns;
  bool live;
  trace::Losses losses;
  std::string session_json;
  std::vector<ProcessData> processes;
  std::vector<trace::Device> devices;
  std::vector<TotalsData> totals;
  std::vector<model::OutOfMemory> out_of_memory;
  uint64_t out_of_memory_count;
  std::vector<ProcessSteps> steps;
  std::vector<Pause> pauses;
  std::vector<CategoryData> categories;
  std::vector<AnswerInfo> answers;
};
InfoData info_data(const Follower::View &view);

Napi::Value info_answer(Napi::Env env, const InfoData &data);
}  // namespace gmt::addon
