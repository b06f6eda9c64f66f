#pragma once
// Allocations as they end, for those who want to see each of them once.
#include <cstdint>
#include <deque>
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
  uint32_t cell;  ///< who made it, see Accounts
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

  /// `event` ends the block.
  void end(const ProcessState &process, const TensorBlock &block, const trace::Event &event);
  void end(const ProcessState &process, const Block &block, const trace::Event &event);
  /// The newest end of that allocation did not happen.
  void take_back(uint32_t process, uint64_t address, uint64_t begin_ns);
  /// The process had other steps: `step_of` says at which time.
  template <typename StepOf>
  void renumber(uint32_t process, StepOf step_of) {
    for (Young &one : young_) {
      if (one.process == process) one.lifetime.step = step_of(one.lifetime.begin_ns);
    }
    for (Waiting &one : waiting_[process]) one.lifetime.step = step_of(one.lifetime.begin_ns);
  }
  /// No more events come: nothing is taken back any more, and what lives is told as well.
  void finish(const State &all);

  /// Whoever reads takes them out.
  std::deque<Lifetime> &ready() { return ready_; }

 private:
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
  /// What is first in order and knows its step.
  void grow_up(const ProcessState &process);
  void add_ready(const std::vector<Lifetime> &all);
  void release_all();

  uint64_t from_ns_;
  std::deque<Lifetime> ready_;
  std::deque<Young> young_;
  std::unordered_map<uint32_t, bool> sure_;                    ///< by process: what its steps are
  std::unordered_map<uint32_t, std::deque<Waiting>> waiting_;  ///< by process
};

}  // namespace gmt::model
