#pragma once
// All that the events of a session have made so far. Ingest changes it, questions read it.
#include <deque>
#include <experimental/propagate_const>
#include <memory>
#include <vector>

#include "model/query/queries.h"
#include "model/state/accounts.h"
#include "model/state/block_store.h"
#include "model/state/process_state.h"

namespace gmt::model {

class State {
 public:
  /// `from` outlives the state.
  explicit State(const Names &from) : names(from), accounts(from) {}
  /// All of it but the names. Reads into a state that is new.
  void checkpoint(Archive &a);

  /// nullptr: no event of that process yet.
  const ProcessState *process(uint32_t number) const {
    return number < processes_.size() ? processes_[number].get() : nullptr;
  }
  /// Begins the process where it is new.
  ProcessState &process_of(uint32_t number) {
    if (number >= processes_.size()) processes_.resize(number + 1);
    if (!processes_[number]) processes_[number] = std::make_unique<ProcessState>(number, accounts.frame(number));
    return *processes_[number];
  }
  template <typename Visit>
  void each_process(Visit visit) const {
    for (const auto &process : processes_) {
      if (process) visit(*process);
    }
  }
  /// False for a process whose recording is switched off.
  bool recording(uint32_t number) const { return !process(number) || process(number)->recording; }

  const Names &names;
  Accounts accounts;
  BlockStore blocks;
  std::deque<OutOfMemory> out_of_memory;  ///< the newest failures, oldest first
  uint64_t out_of_memory_count = 0;
  uint64_t revision = 0;  ///< rises with every batch
  uint64_t events = 0;
  uint64_t now_ns = 0;  ///< time of the newest event

 private:
  std::vector<std::experimental::propagate_const<std::unique_ptr<ProcessState>>> processes_;
};

}  // namespace gmt::model
