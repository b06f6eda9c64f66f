#include "model/steps/loop_finder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace gmt::model {
namespace {

/// Rounds at the begin that do not count.
constexpr size_t kFilling = 2;

/// `places`: numbers of the allocations of one site. How long its rounds are and how many are not; a length of 0 where they are too few or irregular.
LoopFinder::Loop measure(std::span<const uint32_t> places, std::vector<uint32_t> &rounds) {
  LoopFinder::Loop loop{};
  if (places.size() < LoopFinder::kRounds + kFilling + 1) return loop;
  rounds.clear();
  for (size_t i = kFilling + 1; i < places.size(); ++i) rounds.push_back(places[i] - places[i - 1]);
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end());
  const double length = *middle;
  const bool many = rounds.size() >= LoopFinder::kManyRounds;
  const double margin = length * (many ? LoopFinder::kTolerance : LoopFinder::kNarrowTolerance);
  const auto fits = std::count_if(rounds.begin(), rounds.end(),
                                  [&](uint32_t round) { return round >= length - margin && round <= length + margin; });
  loop.rounds = rounds.size();
  loop.irregular = rounds.size() - static_cast<size_t>(fits);
  double inside = 0;
  for (const uint32_t round : rounds) inside += std::min<double>(round, length + margin);
  loop.share = inside / static_cast<double>(places.back() - places[kFilling]);
  const bool regular = static_cast<double>(fits) >= LoopFinder::kRegular * static_cast<double>(rounds.size());
  if (regular) loop.length = length;
  return loop;
}

/// Where the thread is any: the allocations of all threads are counted in one row.
constexpr uint32_t kAllThreads = 65536;

/// The allocations of one site in one thread, or in all.
struct Row {
  uint32_t site;
  uint32_t thread;
  uint32_t count;
};
/// Of a cell: its row in its thread, and that in all; kNone = none.
struct RowsOf {
  uint32_t of_thread = kNone;
  uint32_t of_all = kNone;
};

/// A site of several threads has a row in each, for a pool's workers go through one loop, each at its own pace; and one in
/// all, for a thread may be made for each round.
std::pair<std::vector<Row>, std::vector<RowsOf>> rows_of(const std::vector<LoopFinder::Maker> &makers,
                                                         const std::vector<uint32_t> &counts) {
  std::vector<Row> rows;
  std::vector<RowsOf> of_cell(counts.size());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;
  const auto add = [&](uint32_t cell, uint32_t thread) {
    const auto [at, is_new] = known.try_emplace({makers[cell].site, thread}, static_cast<uint32_t>(rows.size()));
    if (is_new) rows.push_back({makers[cell].site, thread, 0});
    rows[at->second].count += counts[cell];
    return at->second;
  };
  std::map<uint32_t, std::set<uint32_t>> threads;
  const auto is_counted = [&](uint32_t cell) {
    return counts[cell] > 0 && makers[cell].counts && makers[cell].site != kNone;
  };
  for (uint32_t cell = 0; cell < counts.size(); ++cell) {
    if (is_counted(cell)) threads[makers[cell].site].insert(makers[cell].thread);
  }
  for (uint32_t cell = 0; cell < counts.size(); ++cell) {
    if (!is_counted(cell)) continue;
    of_cell[cell].of_thread = add(cell, makers[cell].thread);
    if (threads[makers[cell].site].size() > 1) of_cell[cell].of_all = add(cell, kAllThreads);
  }
  return {std::move(rows), std::move(of_cell)};
}

}  // namespace

void LoopFinder::keep(const StepEntry &entry) {
  if (entries_.size() == kEntries) return start_over();
  if (entries_.empty()) entries_.reserve(kEntries);  // pages come as they are written
  entries_.push_back(entry);
  if (entry.kind != StepEntry::Allocation) return;
  cells_.push_back(entry.cell);
  if (entry.cell >= counts_.size()) counts_.resize(entry.cell + 1);
  const uint32_t own = ++counts_[entry.cell];
  often_ = often_ || own == kRounds + kFilling + 1 || (own > kRounds && own % kRounds == 0);
}

std::optional<LoopFinder::Loop> LoopFinder::find(const std::vector<Maker> &makers, uint32_t sure) {
  search_later();
  const auto [rows, of_cell] = rows_of(makers, counts_);
  std::vector<uint32_t> ends;  // of each one's places, one behind the other
  for (const Row &one : rows) ends.push_back(one.count);
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0u);
  std::vector<uint32_t> places(rows.empty() ? 0 : ends.back() + rows.back().count);
  std::vector<uint32_t> made(kAllThreads + 1);  // allocations of each thread
  for (const uint32_t cell : cells_) {
    if (!makers[cell].counts) continue;
    const uint32_t own = made[makers[cell].thread]++;
    const uint32_t any = made[kAllThreads]++;
    const auto [of_thread, of_all] = of_cell[cell];
    if (of_thread != kNone) places[ends[of_thread]++] = own;
    if (of_all != kNone) places[ends[of_all]++] = any;
  }
  std::vector<Loop> found;
  std::vector<uint32_t> rounds;
  double longest = 0;
  for (uint32_t i = 0, begin = 0; i < rows.size(); begin = ends[i++]) {
    const auto [site, thread, count] = rows[i];
    const std::span<const uint32_t> own{places.data() + begin, places.data() + ends[i]};
    Loop loop = measure(own, rounds);
    if (site == sure && loop.share >= kWhole) return std::nullopt;
    const auto silent = loop.length == 0 ? 0.0 : static_cast<double>(made[thread] - own.back());
    if (loop.length == 0 || silent > 2 * loop.length + 2) continue;  // irregular, or over
    loop.site = site;
    loop.first = own.front();
    found.push_back(loop);
    longest = std::max(longest, loop.length);
  }
  std::erase_if(found, [&](const Loop &one) { return one.length < kEqual * longest; });
  const auto best =
      std::min_element(found.begin(), found.end(), [](const Loop &a, const Loop &b) { return a.first < b.first; });
  return best == found.end() ? std::nullopt : std::optional(*best);
}

void LoopFinder::start_over() {
  entries_ = {};
  cells_ = {};
  counts_ = {};
  next_search_ = 0;
  often_ = false;
  skip_ = next_skip_;
  next_skip_ *= 4;
}

}  // namespace gmt::model
