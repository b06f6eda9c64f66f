#pragma once
// Finds the loop of a program that tells nothing of its steps: a line that allocates once in each round. Remembers what
// happened since it began, so that the rounds before it was sure can be counted as steps afterwards.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

/// One event as the step series need it.
struct StepEntry {
  enum Kind : uint8_t { Allocation, Free, Reserved, Collection, FullCollection, Flags };
  uint64_t time_ns;
  uint64_t before;  ///< of a free: when its block was allocated, ns; of Reserved: bytes before
  uint64_t bytes;   ///< or flags
  uint32_t cell;
  Kind kind;
  uint8_t device;  ///< of Reserved
  bool mark;       ///< of a free: by Python's collector; of Reserved: `before` is known
};
static_assert(sizeof(StepEntry) == 32);

class LoopFinder {
 public:
  /// What is remembered at most: 8 MB.
  static constexpr size_t kEntries = 1u << 18;
  /// Rounds that make a loop, without the first two, which also fill caches.
  static constexpr size_t kRounds = 8;
  /// Of the rounds, this part has about as many allocations as the middle one.
  static constexpr double kRegular = 0.95;
  static constexpr double kTolerance = 0.35;
  /// Few rounds of about one length also come by chance, among thousands of sites: they must be more alike.
  static constexpr size_t kManyRounds = 16;
  static constexpr double kNarrowTolerance = 0.1;
  /// A loop whose rounds have less than this part of the thread's allocations is a part of something: of a training step, say, one
  /// that goes over the parameters. An epoch's steps have nearly all.
  static constexpr double kWhole = 0.7;
  /// Rounds whose lengths are this close are equally long.
  static constexpr double kEqual = 0.95;
  /// Up to this many allocations it searches often, so that a loop is found early; later each search has half as
  /// much again to see as the one before.
  static constexpr size_t kFew = 20'000;

  /// Of a cell: the site, kNone where it is none to go by, and the thread.
  struct Maker {
    uint32_t site = kNone;
    uint16_t thread = 0;
    bool counts = true;  ///< its allocations are part of rounds
  };
  struct Loop {
    uint32_t site;   ///< its allocations begin the rounds
    uint32_t first;  ///< number of its first allocation
    double length;   ///< allocations in the middle one of the rounds
    size_t rounds;
    size_t irregular;
    double share;  ///< of the allocations since it began that are in its rounds
  };

  void note(const StepEntry &entry) {
    if (skip_ > 0) {
      --skip_;
      return;
    }
    keep(entry);
  }
  /// It is time to search: something came often enough, and there is enough new.
  bool due() const { return often_ && cells_.size() >= next_search_; }
  /// The loop whose rounds are the longest of those that are regular and go on; of equals the one that came first.
  /// Lengths are counted in allocations of the line's own thread: what others do beside it is no part of its rounds. Those of a line of
  /// several threads are counted in each of them, and in all.
  /// `sure`: a site whose rounds stay the loop as long as they are more than a part of something; kNone = none.
  std::optional<Loop> find(const std::vector<Maker> &makers, uint32_t sure = kNone);

  const std::vector<StepEntry> &entries() const { return entries_; }
  /// Its memory was full: it begins again later.
  bool rests() const { return skip_ > 0; }
  /// There is no need to search now.
  void search_later() {
    next_search_ = cells_.size() + cells_.size() / (cells_.size() < kFew ? 16 : 2);
    often_ = false;
  }

 private:
  void keep(const StepEntry &entry);
  /// What fills the memory without a loop is something else: begins again later, less and less often.
  void start_over();

  std::vector<StepEntry> entries_;
  std::vector<uint32_t> cells_;   ///< of the allocations, in their order
  std::vector<uint32_t> counts_;  ///< allocations by cell
  size_t next_search_ = 0;
  bool often_ = false;  ///< since the last search, a cell came as often as makes rounds
  uint64_t skip_ = 0;
  uint64_t next_skip_ = 8 * kEntries;
};

}  // namespace gmt::model
