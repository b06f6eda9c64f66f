#include "model/steps/loop_finder.h"

#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "model/state/stack_summary.h"

namespace gmt::model {
namespace {

/// Rounds at the begin that do not count.
constexpr size_t kFilling = 2;

/// Where the thread is any: the allocations of all threads are counted in one row.
constexpr uint32_t kAllThreads = 65536;

/// The allocations of one anchor in one thread, or in all.
struct Row {
  Anchor anchor;
  uint32_t thread;
  uint32_t whole;  ///< the row of its site
  uint32_t count = 0;
  uint32_t most = 0;  ///< of one stack
};
/// Of a cell: its rows in its thread, and those in all.
struct RowsOf {
  std::vector<uint32_t> of_thread, of_all;
};

/// A site of several threads has a row in each, for a pool's workers go through one loop, each at its own pace; and one in
/// all, for a thread may be made for each round. One of several stacks has rows for each of them as well.
std::pair<std::vector<Row>, std::vector<RowsOf>> rows_of(const std::vector<LoopFinder::Maker> &makers,
                                                         const std::vector<uint32_t> &counts) {
  std::vector<Row> rows;
  std::vector<RowsOf> of_cell(counts.size());
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known;
  std::map<uint32_t, std::set<uint32_t>> threads, stacks;  // by site
  const auto add = [&](uint32_t cell, uint32_t thread) {
    const LoopFinder::Maker &maker = makers[cell];
    std::vector<uint32_t> own;
    for (const uint32_t stack : {kNone, maker.stack}) {
      if (stack != kNone && stacks[maker.site].size() == 1) continue;
      const auto row = static_cast<uint32_t>(rows.size());
      const auto [at, is_new] = known.try_emplace({maker.site, stack, thread}, row);
      if (is_new) rows.push_back({{maker.site, stack}, thread, own.empty() ? row : own[0]});
      rows[at->second].count += counts[cell];
      own.push_back(at->second);
    }
    return own;
  };
  const auto is_counted = [&](uint32_t cell) {
    return counts[cell] > 0 && makers[cell].counts && makers[cell].site != kNone;
  };
  for (uint32_t cell = 0; cell < counts.size(); ++cell) {
    if (!is_counted(cell)) continue;
    threads[makers[cell].site].insert(makers[cell].thread);
    stacks[makers[cell].site].insert(makers[cell].stack);
  }
  for (uint32_t cell = 0; cell < counts.size(); ++cell) {
    if (!is_counted(cell)) continue;
    of_cell[cell].of_thread = add(cell, makers[cell].thread);
    if (threads[makers[cell].site].size() > 1) of_cell[cell].of_all = add(cell, kAllThreads);
  }
  for (Row &row : rows) {
    const bool has_rows = row.anchor.stack == kNone && stacks[row.anchor.site].size() > 1;
    row.most = std::max(row.most, has_rows ? 0 : row.count);
    rows[row.whole].most = std::max(rows[row.whole].most, row.most);
  }
  return {std::move(rows), std::move(of_cell)};
}

/// The allocations of one thread, or of all, in their order.
struct Thread {
  const CallPath *last = nullptr;      ///< of the newest one whose calls are known
  std::vector<CallPosition> partings;  ///< from the calls of the one before
};

/// An allocation of a row: its number in the thread, and the backward passes' allocations before it.
struct Visit {
  uint32_t number;
  uint32_t backward : 31;
  uint32_t again : 1;  ///< right behind another one
};

/// The most frequent spot, the deeper one of two, and how often it occurs. Its first parting counts: kLine says most about the loop.
std::pair<CallPosition, size_t> most_often(std::vector<CallPosition> &places) {
  std::sort(places.begin(), places.end());
  std::pair<CallPosition, size_t> best{kNowhere, 0};
  for (auto at = places.begin(); at != places.end();) {
    const auto next =
        std::find_if(at, places.end(), [&](CallPosition one) { return depth_and_line(one) != depth_and_line(*at); });
    const auto count = static_cast<size_t>(next - at);
    if (count >= best.second) best = {*at, count};
    at = next;
  }
  return best;
}

/// The rounds between the visits of one row; none where they are too few, or where most do not lead back to one place.
std::optional<LoopFinder::Loop> measure(std::span<const Visit> visits, const PositionMinima &partings) {
  if (visits.size() < LoopFinder::kRounds + kFilling + 1) return std::nullopt;
  LoopFinder::Loop loop{};
  std::vector<CallPosition> places;
  std::vector<uint32_t> lengths;
  size_t backward = 0;
  for (size_t i = kFilling + 1; i < visits.size(); ++i) {
    const auto [from, to] = std::pair{visits[i - 1], visits[i]};
    places.push_back(partings.least(from.number + 1, to.number + 1));
    lengths.push_back(to.number - from.number);
    backward += to.backward > from.backward;
  }
  loop.rounds = lengths.size();
  loop.longest = *std::max_element(lengths.begin(), lengths.end());
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  loop.length = *middle;
  loop.backward = 2 * backward > loop.rounds;
  const auto [place, count] = most_often(places);
  loop.place = place;
  return place != kNowhere && 2 * count >= loop.rounds ? std::optional(loop) : std::nullopt;
}

/// The same where many visits are right behind another one: what allocates several times a round has come there once. `most`: visits of
/// one stack. Where that is few of them, one line does this and that, once each.
std::optional<LoopFinder::Loop> measure_runs(std::span<const Visit> visits, uint32_t most,
                                             const PositionMinima &partings) {
  std::vector<Visit> runs;
  std::copy_if(visits.begin(), visits.end(), std::back_inserter(runs), [](Visit one) { return !one.again; });
  const auto again = static_cast<int64_t>(visits.size() - runs.size());
  auto loop = 3 * runs.size() > 2 * visits.size() ? std::nullopt : measure(runs, partings);
  const bool recurs = runs.size() > kFilling && visits.size() < (LoopFinder::kRounds + kFilling + 1) * runs.size();
  if (!loop && recurs && 3 * runs.size() <= 2 * visits.size())
    return loop;  // a part of rounds, of which there are too few
  const bool each = !loop;
  if (each && 2 * size_t{most} >= visits.size()) loop = measure(visits, partings);
  if (!loop) return loop;
  loop->anchor.each = each;
  loop->once = static_cast<int64_t>(loop->rounds) - (each ? 2 * again : 0);
  return loop;
}

/// Whether the rounds of `a` rather than those of `b` are steps; false for rounds of one loop.
bool is_more_of_a_step(const LoopFinder::Loop &a, const LoopFinder::Loop &b) {
  if (a.backward != b.backward) return a.backward;
  const auto [place, other] = std::pair{depth_and_line(a.place), depth_and_line(b.place)};
  return a.backward ? place > other : place < other;
}

/// Of the lines of one loop, those of rarer cases have fewer rounds, and those that allocate several times seem to have more.
bool stands_for_it(const LoopFinder::Loop &a, const LoopFinder::Loop &b) {
  return a.once == b.once ? a.first < b.first : a.once > b.once;
}

/// Each of its rounds has one visit.
bool comes_once(const LoopFinder::Loop &loop) { return loop.once == static_cast<int64_t>(loop.rounds); }

}  // namespace

SetUp set_up_of(std::string_view file, std::string_view function, bool below_user) {
  if (!is_set_up(file, function)) return SetUp::kNo;
  return below_user && last_name(function) == "__init__" ? SetUp::kOfLibrary : SetUp::kYes;
}

bool is_set_up(std::string_view file, std::string_view function) {
  static constexpr std::string_view kFunctions[] = {
      "__init__",        "_call_impl", "_wrapped_call_impl", "forward",        "backward", "load_state_dict",
      "from_pretrained", "_load",      "load_weights",       "_find_and_load", "_apply"};
  static constexpr std::string_view kFolders[] = {"/torch/optim/", "/torch/cuda/graphs", "/safetensors/"};
  std::string path(file);
  std::replace(path.begin(), path.end(), '\\', '/');
  const auto name = last_name(function);
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions) ||
         std::any_of(std::begin(kFolders), std::end(kFolders), [&](auto one) { return path.find(one) != path.npos; });
}

void LoopFinder::append(const StepEntry &entry) {
  if (cells_.size() == kAllocations) return start_over();
  if (entries_.empty()) entries_.reserve(kEntries);  // pages come as they are written
  if (entries_.size() == kEntries) entries_.erase(entries_.begin(), entries_.begin() + kEntries / 4);
  entries_.push_back(entry);
  if (entry.kind == StepEntry::Allocation) count(entry.cell);
}

void LoopFinder::count(uint32_t cell) {
  cells_.push_back(cell);
  if (cell >= counts_.size()) counts_.resize(cell + 1);
  const uint32_t own = ++counts_[cell];
  often_ = often_ || own == kRounds + kFilling + 1 || (own > kRounds && own % kRounds == 0);
}

size_t LoopFinder::older_cells() const {
  const auto known = std::ranges::count(entries_, StepEntry::Allocation, &StepEntry::kind);
  return cells_.size() - static_cast<size_t>(known);
}

const CallPath *LoopFinder::path(uint32_t site, const PathOf &path_of) {
  if (site == kNone) return nullptr;
  const auto [known, is_new] = paths_.try_emplace(site);
  if (is_new) known->second = path_of(site);
  return known->second && !known->second->empty() ? &*known->second : nullptr;
}

std::optional<LoopFinder::Loop> LoopFinder::find(const std::vector<Maker> &makers, const PathOf &path_of,
                                                 Anchor current) {
  search_later();
  const auto [rows, of_cell] = rows_of(makers, counts_);
  std::vector<uint32_t> ends;  // of each one's visits, one behind the other
  for (const Row &one : rows) ends.push_back(one.count);
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0u);
  std::vector<Visit> visits(rows.empty() ? 0 : ends.back() + rows.back().count);
  std::map<uint32_t, Thread> threads;
  Thread &all = threads[kAllThreads];
  std::erase_if(paths_, [](const auto &known) { return !known.second; });
  uint32_t backward = 0;
  const Maker *last = nullptr;
  for (const uint32_t cell : cells_) {
    const Maker &maker = makers[cell];
    if (!maker.counts) continue;
    backward += maker.backward;
    const auto again = [&, before = std::exchange(last, &maker)](uint32_t row) {
      return before && rows[row].anchor.site == before->site && rows[row].anchor.has(before->stack) &&
             maker.thread == before->thread;
    };
    Thread &own = threads[maker.thread];
    CallPosition place = kNowhere;
    if (const CallPath *calls = path(maker.site, path_of)) {
      place = own.last ? parting(*own.last, *calls) : call_position(0, (*calls)[0].line, Parting::kLine);
      own.last = calls;
    }
    for (const uint32_t row : of_cell[cell].of_thread)
      visits[ends[row]++] = {static_cast<uint32_t>(own.partings.size()), backward, again(row)};
    for (const uint32_t row : of_cell[cell].of_all)
      visits[ends[row]++] = {static_cast<uint32_t>(all.partings.size()), backward, again(row)};
    own.partings.push_back(place);
    all.partings.push_back(place);
  }
  std::map<uint32_t, PositionMinima> partings;
  std::optional<Loop> best;
  std::optional<Loop> known;  // the one that is kept
  for (uint32_t i = 0, begin = 0; i < rows.size(); begin = ends[i++]) {
    const std::span<const Visit> own{visits.data() + begin, visits.data() + ends[i]};
    const auto &row = threads[rows[i].thread].partings;
    auto loop = measure_runs(own, rows[i].most, partings.try_emplace(rows[i].thread, row).first->second);
    const auto &calls = paths_[rows[i].anchor.site];
    if (!loop || !calls || !is_own(loop->place, *calls)) continue;                 // none, or of a set-up
    if (row.size() - own.back().number > 2 * size_t{loop->longest} + 2) continue;  // over
    loop->anchor = {rows[i].anchor.site, rows[i].anchor.stack, loop->anchor.each};
    loop->first = own.front().number;
    loop->parts = backward > 0 && !loop->backward;
    loop->alone = rows[rows[i].whole].count >= loop->rounds * loop->length + kFilling + 1;
    if (loop->anchor == current && (!known || loop->rounds > known->rounds)) known = loop;
    if (!best || is_more_of_a_step(*loop, *best) || (!is_more_of_a_step(*best, *loop) && stands_for_it(*loop, *best)))
      best = loop;
  }
  if (!known || known->once <= 0 || is_more_of_a_step(*best, *known)) return best;
  // A line that allocated several times in its first round was the first to have come often enough.
  return comes_once(*best) && !comes_once(*known) && best->once > known->once ? best : known;
}

void LoopFinder::start_over() {
  entries_ = {};
  cells_ = {};
  counts_ = {};
  paths_ = {};
  next_search_ = 0;
  often_ = false;
  skip_ = next_skip_;
  next_skip_ *= 4;
}

}  // namespace gmt::model
