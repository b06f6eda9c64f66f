#pragma once
// The calls that a stack is made of, outermost first, and where two stacks part: what a program does next lies in the deepest
// function that both have, and a loop of that function takes it back to a line above.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gmt::model {

struct Call {
  uint32_t function;  ///< equal for the same function of the same file
  uint32_t line;
  bool operator==(const Call &) const = default;
};
using CallPath = std::vector<Call>;

/// A place in the calls: how deep, and the line there. Of two, the smaller one is further out, or above the other one.
using CallPlace = uint64_t;
constexpr CallPlace kNowhere = ~0ull;

constexpr CallPlace call_place(size_t depth, uint32_t line) { return static_cast<uint64_t>(depth) << 32 | line; }

/// Where `to` leaves the calls of `from`; of equal paths their innermost call.
inline CallPlace parting(const CallPath &from, const CallPath &to) {
  const auto part = std::mismatch(from.begin(), from.end(), to.begin(), to.end()).second;
  if (part == to.end() && from.size() == to.size()) return call_place(to.size() - 1, to.back().line);
  const auto depth = static_cast<size_t>(part - to.begin());
  return call_place(depth, part == to.end() ? ~0u : part->line);
}

/// The smallest of any stretch of a row of places, in a time that does not depend on its length.
class PlaceMinima {
 public:
  explicit PlaceMinima(std::vector<CallPlace> places) {
    levels_.push_back(std::move(places));
    for (size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const auto &last = levels_.back();
      std::vector<CallPlace> next(last.size() - width);
      for (size_t i = 0; i < next.size(); ++i) next[i] = std::min(last[i], last[i + width]);
      levels_.push_back(std::move(next));
    }
  }
  /// Of the places from `begin` up to before `end`, which is behind it.
  CallPlace least(size_t begin, size_t end) const {
    const auto level = static_cast<size_t>(std::bit_width(end - begin) - 1);
    return std::min(levels_[level][begin], levels_[level][end - (size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<CallPlace>> levels_;  ///< of 1, 2, 4, … places from each on
};

}  // namespace gmt::model
