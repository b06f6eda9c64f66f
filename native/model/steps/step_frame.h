#pragma once
// Where the steps of one process stand, as far as each of its events needs it.
#include <algorithm>
#include <cstdint>
#include <experimental/propagate_const>
#include <memory>
#include <vector>

#include "model/steps/loop_finder.h"

namespace gmt::model {

/// A block whose time is over.
struct EndedBlock {
  uint64_t address;
  uint64_t bytes : 48;
  uint64_t device : 8;
  uint32_t step;  ///< in which it was allocated
  uint32_t cell;
  void checkpoint(Archive &a) {
    uint64_t size = bytes;
    auto on = static_cast<uint8_t>(device);
    a(address, size, on, step);
    row(a, kCellRows, cell);
    bytes = size & 0xffff'ffff'ffff;
    device = on;
  }
};
static_assert(sizeof(EndedBlock) == 24);

struct StepFrame {
  /// Blocks of earlier steps that end in one step are remembered up to this number.
  static constexpr size_t kEnded = 1'000'000;
  /// Steps beyond are one: only a damaged time goes so far.
  static constexpr uint32_t kMostSteps = 1u << 30;

  uint32_t step = 1;           ///< the one that runs
  uint32_t gc_thread = kNone;  ///< the thread in which Python's collector runs
  /// Gets what happens while the program's loop is looked for; empty once the search is over.
  std::experimental::propagate_const<std::unique_ptr<LoopFinder>> finder = std::make_unique<LoopFinder>();
  /// Blocks of earlier steps that ended in the running one: they were alive when the last step ended.
  std::vector<EndedBlock> ended;
  bool ended_cut = false;  ///< there were more

  void checkpoint(Archive &a) {
    a(step, gc_thread, ended, ended_cut);
    bool has_finder = finder != nullptr;
    a(has_finder);
    if (!has_finder) finder = nullptr;
    if (has_finder) a(*finder);
  }
  void end(const EndedBlock &block) {
    if (ended.size() == kEnded) {
      ended.clear();
      ended_cut = true;
    }
    if (!ended_cut) ended.push_back(block);
  }
  /// A free that did not happen.
  void take_back(uint64_t address, uint32_t cell) {
    for (size_t at = ended.size(); at-- > 0;) {
      if (ended[at].address != address || ended[at].cell != cell) continue;
      ended.erase(ended.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
  }
  /// The step that runs is the first.
  void restart() {
    step = 0;
    next_step();
  }
  void next_step(uint32_t steps = 1) {
    step = std::min(step, kMostSteps) + std::min(steps, kMostSteps);
    ended.clear();
    ended_cut = false;
  }
};

}  // namespace gmt::model
