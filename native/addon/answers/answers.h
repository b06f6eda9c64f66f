#pragma once
// Answers of the model as the JavaScript values that extension/protocol/trace.ts describes; buffers belong to
// JavaScript.
#include <napi.h>

#include <string>
#include <vector>

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
struct AgentAnswer {
  uint32_t process;
  model::Answer answer;
  std::vector<BlockAnswer> blocks;
};
Napi::Value blocks_answer(Napi::Env env, const std::vector<BlockAnswer> &blocks);
Napi::Value agent_answer(Napi::Env env, const AgentAnswer &answer);

Napi::Array frames_answer(Napi::Env env, const std::vector<model::Frame> &frames);

/// The part of it that is about steps, by process.
struct StepInfo {
  struct Steps {
    uint32_t process;
    model::StepSource source;
    uint32_t count;
    uint64_t last_end_ns;
    uint32_t anchor;
    uint32_t touched;
  };
  struct Pause {
    uint32_t process;
    bool driver;
    model::Interval interval;
  };
  struct Category {
    uint32_t process;
    model::CategoryRow row;
  };
  struct Habit {
    uint32_t process;
    size_t thread;
    model::Layer layer;
    model::SizeHabit habit;
    uint32_t site;
  };
  struct Answer {
    uint32_t process;
    uint32_t index;
    uint32_t request;
    uint64_t time_ns;
    bool complete;
    size_t bytes;
  };
  std::vector<Steps> steps;
  std::vector<Pause> pauses;
  std::vector<Category> categories;
  std::vector<Habit> habits;
  std::vector<Answer> answers;
};

/// What TraceInfo shows, copied out while the follower waits.
struct InfoData {
  struct Process {
    trace::ProcessFacts facts;
    std::vector<std::string> command;
    uint32_t python;
    bool ended;
    bool recording;
    std::vector<trace::Thread> threads;
    std::vector<trace::Note> notes;
  };
  uint64_t revision, events, duration_ns, start_realtime_ns;
  bool live;
  double events_per_second;
  trace::Losses losses;
  std::string session_json;
  std::vector<Process> processes;
  std::vector<trace::Device> devices;
  std::vector<model::LedgerNumbers> ledgers;
  std::vector<model::OutOfMemory> out_of_memory;
  uint64_t out_of_memory_count;
  StepInfo steps;
};
InfoData info_data(const Follower::View &view);
StepInfo step_info(const Follower::View &view);
/// Adds it to a TraceInfo.
void put_step_info(Napi::Env env, Napi::Object &info, const StepInfo &data);
Napi::Value snapshot_answer(Napi::Env env, const model::MemorySnapshot *snapshot);

Napi::Value info_answer(Napi::Env env, const InfoData &data);
Napi::Value sites_answer(Napi::Env env, const model::SiteRows &rows);
Napi::Value site_answer(Napi::Env env, const model::SiteDetail &site);
Napi::Value allocations_answer(Napi::Env env, const model::AllocationRows &rows);
Napi::Value site_series_answer(Napi::Env env, const model::SiteSeries &series, uint64_t revision);
Napi::Value ledger_series_answer(Napi::Env env, const model::LedgerSeries &series, uint64_t revision);
Napi::Value free_lines_answer(Napi::Env env, const std::vector<model::FreeLine> &lines);
Napi::Value fragmentation_answer(Napi::Env env, const model::Fragmentation &known);
Napi::Value segments_answer(Napi::Env env, const model::SegmentMap &map, uint64_t revision);
/// LifetimeBatch.
Napi::Value lifetimes_answer(Napi::Env env, const std::vector<LifetimeRow> &rows);
Napi::Value timeline_answer(Napi::Env env, const std::vector<model::Bucket> &buckets);

}  // namespace gmt::addon
