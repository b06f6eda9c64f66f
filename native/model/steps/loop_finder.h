#pragma once
// Finds the loop of a program that does not mark its steps. Rounds need not be alike: what makes them is that the program comes
// back to a place in its calls. Remembers what happened since it began, so that earlier rounds can be counted as steps afterwards.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/state/types.h"

namespace gmt::model {

/// Whether the rounds of what lies in a function, or below it, are never steps: README.md.
enum class SetUp : uint8_t {
  kNo,
  kYes,
  kOfLibrary,  ///< a constructor that the program's own line calls: a line that makes one object a round may be a step's
};

/// The calls that a stack is made of, outermost first, and where two stacks part: what a program does next lies in the deepest
/// function that both have, and a loop of that function takes it back to a line above.
struct Call {
  uint32_t function;  ///< equal for the same function of the same file
  uint32_t line;
  SetUp set_up = SetUp::kNo;
  bool operator==(const Call &) const = default;
};
using CallPath = std::vector<Call>;

/// How two stacks part.
enum class Parting : uint8_t {
  kLine,   ///< a function continues at another line: the loop is in that function
  kCall,   ///< one line calls another function, or allocates itself: the loop is in the function of that line
  kEqual,  ///< the stacks are equal: the loop may be in any of the functions
};

/// A place in the calls: how deep, the line there, how the stacks part. Of two, the smaller one is further out, or above the other one.
using CallPosition = uint64_t;
constexpr CallPosition kNowhere = ~0ull;

constexpr CallPosition call_position(size_t depth, uint32_t line, Parting parting) {
  return static_cast<uint64_t>(depth) << 34 | static_cast<uint64_t>(line) << 2 | static_cast<uint64_t>(parting);
}

constexpr uint64_t depth_and_line(CallPosition place) { return place >> 2; }

/// Of a file and a function of it, not kOfLibrary.
bool is_set_up(std::string_view file, std::string_view function);

/// `below_user`: the program's own line calls it.
SetUp set_up_of(std::string_view file, std::string_view function, bool below_user);

/// Whether a loop that leads back to the place, on the way to what has this path, lies in the program's own functions.
inline bool is_own(CallPosition place, const CallPath &path) {
  const auto parting = static_cast<Parting>(place & 3);
  const auto set_up = std::find_if(path.begin(), path.end(), [&](Call one) {
    return one.set_up == SetUp::kYes || (one.set_up == SetUp::kOfLibrary && parting != Parting::kEqual);
  });
  if (parting == Parting::kEqual) return set_up == path.end() && !path.empty();
  const size_t depth = (place >> 34) + (parting == Parting::kCall ? 0 : 1);  // of the loop
  return depth <= static_cast<size_t>(set_up - path.begin());
}

/// Where `to` leaves the calls of `from`; of equal paths their innermost call.
inline CallPosition parting(const CallPath &from, const CallPath &to) {
  const auto part = std::mismatch(from.begin(), from.end(), to.begin(), to.end()).second;
  if (part == to.end() && from.size() == to.size())
    return call_position(to.size() - 1, to.back().line, Parting::kEqual);
  const auto depth = static_cast<size_t>(part - to.begin());
  if (part == to.end()) return call_position(depth, ~0u, Parting::kCall);
  const bool goes_on = depth < from.size() && from[depth].function == part->function;
  return call_position(depth, part->line, goes_on ? Parting::kLine : Parting::kCall);
}

/// The smallest of any stretch of a row of places, in a time that does not depend on its length.
class PositionMinima {
 public:
  explicit PositionMinima(const std::vector<CallPosition> &places) : places_(places) {
    std::vector<CallPosition> blocks((places.size() + kBlock - 1) / kBlock);
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = scan(i * kBlock, std::min(places.size(), (i + 1) * kBlock));
    levels_.push_back(std::move(blocks));
    for (size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const auto &last = levels_.back();
      std::vector<CallPosition> next(last.size() - width);
      for (size_t i = 0; i < next.size(); ++i) next[i] = std::min(last[i], last[i + width]);
      levels_.push_back(std::move(next));
    }
  }
  /// Of the places from `begin` up to before `end`, which is behind it.
  CallPosition least(size_t begin, size_t end) const {
    const size_t first = (begin + kBlock - 1) / kBlock, last = end / kBlock;  // the whole blocks between
    if (first >= last) return scan(begin, end);
    const auto level = static_cast<size_t>(std::bit_width(last - first) - 1);
    const auto &row = levels_[level];
    return std::min(
        {scan(begin, first * kBlock), row[first], row[last - (size_t{1} << level)], scan(last * kBlock, end)});
  }

 private:
  static constexpr size_t kBlock = 16;  ///< so that the levels take as much memory as the row itself
  CallPosition scan(size_t begin, size_t end) const {
    CallPosition least = kNowhere;
    for (; begin < end; ++begin) least = std::min(least, places_[begin]);
    return least;
  }
  const std::vector<CallPosition> &places_;
  std::vector<std::vector<CallPosition>> levels_;  ///< of 1, 2, 4, … blocks from each on
};

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
  void checkpoint(Archive &a) {
    a(time_ns, before, bytes, kind, device, mark);
    if (kind <= Free) row(a, kCellRows, cell);
  }
};
constexpr size_t archive_limit(StepEntry::Kind) { return StepEntry::Flags + 1; }
static_assert(sizeof(StepEntry) == 32);

/// What begins the rounds of a loop: the allocations of a site or, where its line allocates several times a round, those with one of
/// the stacks that it has: they differ in their instructions.
struct Anchor {
  uint32_t site = kNone;
  uint32_t stack = kNone;  ///< kNone: any
  bool each = true;        ///< false: of several right behind one another the first one alone
  bool operator==(const Anchor &) const = default;
  bool has(uint32_t other) const { return stack == kNone || stack == other; }
  void checkpoint(Archive &a) {
    row_or_none(a, kSiteRows, site);
    a(stack, each);
  }
};

class LoopFinder {
 public:
  /// What can be counted as steps afterwards, the newest: 8 MB.
  static constexpr size_t kEntries = 1u << 18;
  /// Allocations among which a loop is searched: 4 MB. A round may have 95,000 of them.
  static constexpr size_t kAllocations = 1u << 20;
  /// Rounds that make a loop, without the first two, which also fill caches.
  static constexpr size_t kRounds = 8;
  /// Up to this many allocations it searches often, so that a loop is found early; later each search sees half as much again.
  static constexpr size_t kFew = 20'000;

  /// Of a cell: the site, kNone where it is none to go by, the stack, and the thread.
  struct Maker {
    uint32_t site = kNone;
    uint32_t stack = 0;
    uint32_t thread = 0;
    bool counts = true;     ///< its allocations are part of rounds
    bool backward = false;  ///< they belong to a backward pass
  };
  struct Loop {
    Anchor anchor;     ///< its allocations begin the rounds
    uint32_t first;    ///< number of its first allocation
    uint32_t longest;  ///< allocations in the longest one of the rounds
    uint32_t length;   ///< ... and in the middle one
    size_t rounds;
    int64_t once;        ///< rounds, less twice those that begin right behind another one's begin
    CallPosition place;  ///< where the program comes back to in most rounds
    bool backward;       ///< most rounds have a backward pass
    bool alone;          ///< all that most rounds allocate is of the one line
    bool parts;          ///< the program has backward passes, and most rounds have none: they may be parts of a step
  };
  /// The calls of a site's stack; empty where its outermost ones were cut off, nothing while they are not known.
  using PathOf = std::function<std::optional<CallPath>(uint32_t site)>;

  void checkpoint(Archive &a);
  void note(const StepEntry &entry) {
    if (skip_ > 0) {
      --skip_;
      return;
    }
    append(entry);
  }
  /// It is time to search: something came often enough, and there is enough new.
  bool due() const { return often_ && cells_.size() >= next_search_; }
  /**
   * The loop that continues and whose rounds are steps, which lies in no set-up: where the program has backward passes, the innermost one with a pass in each
   * round; else the outermost one, for what a request does may be a loop too. Of the lines that are come to in each round the one
   * that came first stands for it. What other threads do is no part of a round. A line of several threads has rounds in each of
   * them, and in all. `current`: the line that stands for the loop so far; it is kept while it may be.
   */
  std::optional<Loop> find(const std::vector<Maker> &makers, const PathOf &path_of, Anchor current);

  /// What happened, from the first round on or, where that is long ago, the newest part of it.
  const std::vector<StepEntry> &entries() const { return entries_; }
  /// Its memory was full: it begins again later.
  bool rests() const { return skip_ > 0; }
  /// There is no need to search now.
  void search_later() {
    next_search_ = cells_.size() + cells_.size() / (cells_.size() < kFew ? 16 : 2);
    often_ = false;
  }

 private:
  void append(const StepEntry &entry);
  void count(uint32_t cell);
  /// Allocations whose entries are gone.
  size_t older_cells() const;
  /// What fills the memory without a loop is something else: begins again later, less and less often.
  void start_over();
  /// Of `path_of` once a site, however deep its stack and however often it allocates; null: not known.
  const CallPath *path(uint32_t site, const PathOf &path_of);

  std::unordered_map<uint32_t, std::optional<CallPath>> paths_;  ///< by site
  std::vector<StepEntry> entries_;
  std::vector<uint32_t> cells_;   ///< of the allocations, in their order
  std::vector<uint32_t> counts_;  ///< allocations by cell
  size_t next_search_ = 0;
  bool often_ = false;  ///< since the last search, a cell came as often as makes rounds
  uint64_t skip_ = 0;
  uint64_t next_skip_ = 2 * kAllocations;
};

}  // namespace gmt::model
