#pragma once
// Allocations as they end, for readers that need each of them once.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "model/state/state.h"

namespace gmt::model {

struct Lifetime {
  static constexpr uint64_t kAlive = ~0ull;
  static constexpr int32_t kNoThread = -1;

  uint64_t address;
  uint64_t bytes;
  uint64_t begin_ns;
  uint64_t end_ns;
  uint64_t stream;
  uint32_t cell;  ///< what made it, see Accounts
  uint32_t step;  ///< in which it was allocated
  int32_t free_thread;
  uint32_t name;  ///< NameBook::Entry::text; 0: none
  uint8_t device;
  uint8_t kind;
  uint8_t category;
};

/// What a Model that was given one has seen end. A driver's free that turns out to have failed ends nothing: such ends
/// wait until they cannot be taken back. All wait, too, while it is not known what the steps of their process are.
class LifetimeLog {
 public:
  /// That wait for steps at most: as many as the search for a loop remembers.
  static constexpr size_t kMostYoung = LoopFinder::kEntries;

  /// What ended before `from_ns` is left out.
  explicit LifetimeLog(uint64_t from_ns = 0) : from_ns_(from_ns) {}

  void end(const ProcessState &process, const TensorBlock &block, const trace::Event &event) {
    add(ended(lifetime_of(process, block), event), process.number);
    grow_up(process);
  }
  void end(const ProcessState &process, const Block &block, const trace::Event &event) {
    std::deque<Waiting> &own = waiting_[process.number];
    const uint64_t frees = process.undo.pushed();
    own.push_back({ended(lifetime_of(block), event), frees});
    for (; own.front().frees + UndoRing::kSize < frees; own.pop_front()) add(own.front().lifetime, process.number);
    grow_up(process);
  }
  /// The newest end of that allocation did not happen.
  void take_back(uint32_t process, uint64_t address, uint64_t begin_ns) {
    std::deque<Waiting> &own = waiting_[process];
    const auto is_it = [&](const Waiting &one) {
      return one.lifetime.address == address && one.lifetime.begin_ns == begin_ns;
    };
    const auto newest = std::find_if(own.rbegin(), own.rend(), is_it);
    if (newest != own.rend()) own.erase(std::next(newest).base());
  }
  /// The process had other steps: `step_of` says at which time.
  template <typename StepOf>
  void renumber(uint32_t process, StepOf step_of) {
    for (Young &one : young_) {
      if (one.process == process) one.lifetime.step = step_of(one.lifetime.begin_ns);
    }
    for (Waiting &one : waiting_[process]) one.lifetime.step = step_of(one.lifetime.begin_ns);
  }
  /// No more events come: nothing is retracted from here on, and live allocations are reported as well.
  void finish(const State &all) {
    release_all();
    std::vector<Lifetime> living;
    all.blocks.each([&](uint32_t, const Block &block) { living.push_back(lifetime_of(block)); });
    all.each_process([&](const ProcessState &process) {
      process.tensors.each([&](const TensorBlock &block) { living.push_back(lifetime_of(process, block)); });
    });
    std::ranges::sort(living, {}, [](const Lifetime &one) { return std::pair(one.begin_ns, one.address); });
    add_ready(living);
  }

  /// Whoever reads takes them out.
  std::deque<Lifetime> &ready() { return ready_; }

 private:
  /// The thread that freed what the event ended; none where its memory was only seen to be something else by now.
  static int32_t freeing_thread(const trace::Event &event) {
    const bool frees = event.kind == GMT_TENSOR_FREE || (event.kind >= GMT_FREE && event.kind != GMT_MAP);
    return frees ? event.thread : Lifetime::kNoThread;
  }
  static Lifetime lifetime_of(const ProcessState &process, const TensorBlock &block) {
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
  static Lifetime lifetime_of(const Block &block) {
    return {block.address,       block.bytes, block.time_ns, Lifetime::kAlive, block.stream, block.cell, block.step,
            Lifetime::kNoThread, 0,           block.device,  block.kind,       kUnnamed};
  }
  static Lifetime ended(Lifetime one, const trace::Event &event) {
    one.end_ns = event.time_ns;
    one.free_thread = freeing_thread(event);
    return one;
  }

  struct Waiting {
    Lifetime lifetime;
    uint64_t frees;  ///< of the driver in the process before the one that ended it
  };

  struct Young {
    Lifetime lifetime;
    uint32_t process;
  };

  void add(const Lifetime &one, uint32_t process) {
    if (one.end_ns >= from_ns_) young_.push_back({one, process});
  }
  /// The first in order whose step is known.
  void grow_up(const ProcessState &process) {
    const StepSource source = process.steps.source;
    sure_[process.number] = source == StepSource::Optimizer || (source == StepSource::Periodic && process.steps.sure);
    while (!young_.empty() && (sure_[young_.front().process] || young_.size() > kMostYoung)) {
      ready_.push_back(young_.front().lifetime);
      young_.pop_front();
    }
  }
  void add_ready(const std::vector<Lifetime> &all) {
    std::ranges::copy_if(all, std::back_inserter(ready_), [&](const Lifetime &one) { return one.end_ns >= from_ns_; });
  }
  void release_all() {
    for (const Young &one : young_) ready_.push_back(one.lifetime);
    young_.clear();
    std::vector<Lifetime> all;
    for (const auto &[process, own] : waiting_) {
      for (const Waiting &one : own) all.push_back(one.lifetime);
    }
    waiting_.clear();
    std::ranges::stable_sort(all, {}, &Lifetime::end_ns);
    add_ready(all);
  }

  uint64_t from_ns_;
  std::deque<Lifetime> ready_;
  std::deque<Young> young_;
  std::unordered_map<uint32_t, bool> sure_;                    ///< by process: what its steps are
  std::unordered_map<uint32_t, std::deque<Waiting>> waiting_;  ///< by process
};

}  // namespace gmt::model
