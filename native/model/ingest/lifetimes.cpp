#include "model/ingest/lifetimes.h"

#include <algorithm>
#include <vector>

#include "model/model.h"

namespace gmt::model {
namespace {

/// The thread that freed what the event ended; none where its memory was only seen to be something else by now.
int32_t freeing_thread(const trace::Event &event) {
  const bool frees = event.kind == GMT_TENSOR_FREE || (event.kind >= GMT_FREE && event.kind != GMT_MAP);
  return frees ? event.thread : Lifetime::kNoThread;
}

}  // namespace

void LifetimeLog::add_undoable(uint32_t process, const Lifetime &one, uint64_t frees) {
  std::deque<Waiting> &own = waiting_[process];
  own.push_back({one, frees});
  for (; own.front().frees + UndoRing::kSize < frees; own.pop_front()) add(own.front().lifetime);
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
  std::vector<Lifetime> all;
  for (const auto &[process, own] : waiting_) {
    for (const Waiting &one : own) all.push_back(one.lifetime);
  }
  waiting_.clear();
  std::stable_sort(all.begin(), all.end(), [](const Lifetime &a, const Lifetime &b) { return a.end_ns < b.end_ns; });
  for (const Lifetime &one : all) add(one);
}

Lifetime Model::lifetime_of(const ProcessState &state, const TensorBlock &block) {
  return {block.address,
          block.bytes,
          block.time_ns,
          Lifetime::kAlive,
          0,
          block.cell,
          block.step,
          Lifetime::kNoThread,
          static_cast<uint8_t>(block.device),
          GMT_TENSOR_ALLOC,
          category_of(state, block)};
}

Lifetime Model::lifetime_of(const Block &block) {
  return {block.address, block.bytes,         block.time_ns, Lifetime::kAlive, block.stream, block.cell,
          block.step,    Lifetime::kNoThread, block.device,  block.kind,       kUnnamed};
}

void Model::log_end(const ProcessState &state, const TensorBlock &block, const trace::Event &event) {
  Lifetime one = lifetime_of(state, block);
  one.end_ns = event.time_ns;
  one.free_thread = freeing_thread(event);
  lifetimes_->add(one);
}

void Model::log_end(const ProcessState &state, const Block &block, const trace::Event &event) {
  Lifetime one = lifetime_of(block);
  one.end_ns = event.time_ns;
  one.free_thread = freeing_thread(event);
  lifetimes_->add_undoable(accounts_.cell_infos()[block.cell].process, one, state.undo.pushed());
}

void Model::finish_lifetimes() {
  lifetimes_->release_all();
  std::vector<Lifetime> living;
  blocks_.each([&](uint32_t, const Block &block) { living.push_back(lifetime_of(block)); });
  for (const auto &state : states_) {
    if (!state) continue;
    state->tensors.each([&](const TensorBlock &block) { living.push_back(lifetime_of(*state, block)); });
  }
  std::sort(living.begin(), living.end(), [](const Lifetime &a, const Lifetime &b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.address < b.address;
  });
  for (const Lifetime &one : living) lifetimes_->add(one);
}

}  // namespace gmt::model
