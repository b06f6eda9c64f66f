#pragma once
// The steps of one process: what ends them, when they ended, and what is not known of them.
#include <algorithm>
#include <utility>

#include "model/steps/loop_finder.h"
#include "model/steps/step_list.h"

namespace gmt::model {

/// What is not known of a step; the values are those of STEP_* in the protocol.
enum StepFlags : uint8_t { kStepPaused = 1, kStepDriverGap = 2, kStepLostEvents = 4 };

/// The end of a step and what lies in it besides allocations.
struct StepMark {
  uint32_t step;
  uint32_t full_collections;  ///< of Python's collector, of its oldest generation
  uint8_t flags;
  uint64_t end_ns;
  void checkpoint(Archive &a) { a(step, full_collections, flags, end_ns); }
  void join(const StepMark &later) {
    step = later.step;
    full_collections += later.full_collections;
    flags |= later.flags;
    end_ns = later.end_ns;
  }
};

struct ProcessSteps {
  static constexpr uint64_t kSliceNs = 250'000'000;
  /// At first, what is in the rounds of a loop may have been taken for it, and one with longer rounds takes over. A loop is
  /// sure after this many rounds of one length; where some are irregular, or one line allocates alone, after more.
  static constexpr size_t kSureRounds = 64;
  static constexpr size_t kDoubtfulRounds = 1024;
  /// Allocations without a new round, in rounds, after which another loop is looked for.
  static constexpr uint32_t kSilentRounds = 8;

  StepSource source = StepSource::Time;
  uint64_t next_slice_ns = 0;  ///< end of the slice of time, ~0 = slices are not looked at
  bool sure = false;           ///< of the loop
  bool alone = false;          ///< LoopFinder::Loop
  bool parts = false;          ///< LoopFinder::Loop
  uint32_t silent = 0;         ///< allocations since the newest one of its anchor
  uint32_t most_silent = ~0u;  ///< that are no reason to look for another
  Anchor anchor;               ///< whose allocations begin steps
  uint32_t newest = 0;         ///< the thread of the newest one
  uint64_t begin_ns = 0;       ///< of the first step that was counted from `source`
  uint64_t last_end_ns = 0;
  uint64_t turned_ns = 0;  ///< when the newest round of a loop began
  uint64_t behind_ns =
      0;                 ///< when what no round did before was first allocated since, and nothing else after it; 0: not
  uint32_t known = 0;    ///< cells when that round began
  uint64_t left_ns = 0;  ///< when the program's own code had ended; 0: not yet
  uint64_t busy_ns = 0;  ///< ... and how long it had worked since the newest event
  uint64_t most_ended = 0;  ///< blocks of earlier steps that ended in one step
  uint32_t touched = 0;     ///< ended steps with flags
  StepList<StepMark> marks;
  StepMark running{};         ///< what the running step has so far
  uint8_t lasting_flags = 0;  ///< of every step until further notice

  void checkpoint(Archive &a) {
    a(source, next_slice_ns, sure, silent, most_silent, begin_ns, last_end_ns, most_ended, touched, marks, running,
      lasting_flags, anchor, newest, turned_ns, behind_ns, known, left_ns, busy_ns, alone, parts);
  }
  /// An allocation of the anchor, with `others` since the newest one of it: whether it begins a round.
  bool begins(uint32_t thread, bool others) { return std::exchange(newest, thread) != thread || others || anchor.each; }
  /// A round begins.
  void turn(uint64_t time_ns, size_t cells) {
    turned_ns = time_ns;
    behind_ns = 0;
    known = static_cast<uint32_t>(cells);
  }
  void allocate(uint32_t cell, uint64_t time_ns) { behind_ns = cell < known ? 0 : behind_ns > 0 ? behind_ns : time_ns; }
  void leave(uint64_t time_ns, uint64_t worked_ns) {
    left_ns = time_ns;
    busy_ns = worked_ns;
  }
  /// How long the program worked without an event behind the loop, until its own code had ended.
  uint64_t idle_ns() const { return left_ns > turned_ns ? std::min(busy_ns, left_ns - turned_ns) : 0; }
  void flag(uint8_t flags) { running.flags |= flags; }
  void collection(bool full) { running.full_collections += full; }
  void end(uint32_t step, uint64_t time_ns, uint64_t ended_blocks) {
    most_ended = std::max(most_ended, ended_blocks);
    running.step = step;
    running.end_ns = last_end_ns = time_ns;
    touched += running.flags != 0;
    marks.push(running);
    running = {};
    running.flags = lasting_flags;
  }
  /// Nothing has ended yet; what there was is of the step that runs.
  void restart_in_first_step() {
    StepMark all{};
    for (const StepMark &mark : marks.points()) all.join(mark);
    all.join(running);
    running = all;
    forget();
  }
  /// Nothing has happened yet.
  void restart() {
    running = {};
    forget();
  }

 private:
  void forget() {
    marks.clear();
    last_end_ns = 0;
    most_ended = 0;
    touched = 0;
  }
};

}  // namespace gmt::model
