#pragma once
// Answers of the model as the JavaScript values that extension/protocol/trace.ts describes; buffers belong to
// JavaScript.
#include <napi.h>

#include <string>
#include <vector>

#include "addon/follower.h"
#include "model/model.h"

namespace gmt::addon {

const char *layer_name(model::Layer layer);
const char *source_name(model::LineSource source);

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
};
InfoData info_data(const Follower::View &view);

Napi::Value info_answer(Napi::Env env, const InfoData &data);
Napi::Value sites_answer(Napi::Env env, const model::SiteRows &rows);
Napi::Value site_answer(Napi::Env env, const model::SiteDetail &site);
Napi::Value allocations_answer(Napi::Env env, const model::AllocationRows &rows);
Napi::Value timeline_answer(Napi::Env env, const std::vector<model::Bucket> &buckets);

}  // namespace gmt::addon
