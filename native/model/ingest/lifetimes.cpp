#include "model/ingest/lifetimes.h"

#include <algorithm>
#include <iterator>

namespace gmt::model {
namespace {

/// The thread that freed what the event ended; none where its memory was only seen to be something else by now.
int32_t freeing_thread(const trace::Event &event) {
  const bool frees = event.kind == GMT_TENSOR_FREE || (event.kind >= GMT_FREE && event.kind != GMT_MAP);
  return frees ? event.thread : Lifetime::kNoThread;
}

Lifetime lifetime_of(const ProcessState &process, const TensorBlock &block) {
  const NameBook::Entry *entry = process.name_of(block);
  return {block.address,
          block.bytes,
          block.time_ns,
          Lifetime::kAlive,
          0,
          block.cell,
          block.step,
          Lifetime::kNoThread,
          entry ? entry->text : 0,
          static_cast<uint8_t>(block.device),
          GMT_TENSOR_ALLOC,
          process.category_of(block)};
}

Lifetime lifetime_of(const Block &block) {
  return {block.address,       block.bytes, block.time_ns, Lifetime::kAlive, block.stream, block.cell, block.step,
          Lifetime::kNoThread, 0,           block.device,  block.kind,       kUnnamed};
}

Lifetime ended(Lifetime one, const trace::Event &event) {
  one.end_ns = event.time_ns;
  one.free_thread = freeing_thread(event);
  return one;
}

}  // namespace

void LifetimeLog::end(const ProcessState &process, const TensorBlock &block, const trace::Event &event) {
  add(ended(lifetime_of(process, block), event), process.number);
  grow_up(process);
}

void LifetimeLog::end(const ProcessState &process, const Block &block, const trace::Event &event) {
  std::deque<Waiting> &own = waiting_[process.number];
  const uint64_t frees = process.undo.pushed();
  own.push_back({ended(lifetime_of(block), event), frees});
  for (; own.front().frees + UndoRing::kSize < frees; own.pop_front()) add(own.front().lifetime, process.number);
  grow_up(process);
}

void LifetimeLog::grow_up(const ProcessState &process) {
  const StepSource source = process.steps.source;
  sure_[process.number] = source == StepSource::Optimizer || (source == StepSource::Periodic && process.steps.sure);
  while (!young_.empty() && (sure_[young_.front().process] || young_.size() > kMostYoung)) {
    ready_.push_back(young_.front().lifetime);
    young_.pop_front();
  }
}

void LifetimeLog::take_back(uint32_t process, uint64_t address, uint64_t begin_ns) {
  std::deque<Waiting> &own = waiting_[process];
  const auto is_it = [&](const Waiting &one) {
    return one.lifetime.address == address && one.lifetime.begin_ns == begin_ns;
  };
  const auto newest = std::find_if(own.rbegin(), own.rend(), is_it);
  if (newest != own.rend()) own.erase(std::next(newest).base());
}

void LifetimeLog::release_all() {
  for (const Young &one : young_) ready_.push_back(one.lifetime);
  young_.clear();
  std::vector<Lifetime> all;
  for (const auto &[process, own] : waiting_) {
    for (const Waiting &one : own) all.push_back(one.lifetime);
  }
  waiting_.clear();
  std::stable_sort(all.begin(), all.end(), [](const Lifetime &a, const Lifetime &b) { return a.end_ns < b.end_ns; });
  add_ready(all);
}

void LifetimeLog::add_ready(const std::vector<Lifetime> &all) {
  std::ranges::copy_if(all, std::back_inserter(ready_), [&](const Lifetime &one) { return one.end_ns >= from_ns_; });
}

void LifetimeLog::finish(const State &all) {
  release_all();
  std::vector<Lifetime> living;
  all.blocks.each([&](uint32_t, const Block &block) { living.push_back(lifetime_of(block)); });
  all.each_process([&](const ProcessState &process) {
    process.tensors.each([&](const TensorBlock &block) { living.push_back(lifetime_of(process, block)); });
  });
  std::sort(living.begin(), living.end(), [](const Lifetime &a, const Lifetime &b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.address < b.address;
  });
  add_ready(living);
}

}  // namespace gmt::model
