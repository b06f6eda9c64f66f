#include "model/steps/loop_finder.h"

#include <algorithm>
#include <numeric>
#include <span>

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
  uint32_t sites = 0;
  for (const Maker &maker : makers) sites = maker.site == kNone ? sites : std::max(sites, maker.site + 1);
  std::vector<uint32_t> ends(sites + 1);  // of each site's places, one behind the other
  for (uint32_t cell = 0; cell < counts_.size(); ++cell) {
    if (makers[cell].counts && makers[cell].site != kNone) ends[makers[cell].site + 1] += counts_[cell];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<uint32_t> places(ends.back());
  std::vector<uint32_t> made(65536);  // allocations of each thread
  std::vector<uint16_t> threads(sites);
  for (const uint32_t cell : cells_) {
    const auto [site, thread, counts] = makers[cell];
    if (!counts) continue;
    const uint32_t place = made[thread]++;
    if (site == kNone) continue;
    places[ends[site]++] = place;
    threads[site] = thread;
  }
  std::vector<Loop> found;
  std::vector<uint32_t> rounds;
  double longest = 0;
  for (uint32_t site = 0, begin = 0; site < sites; begin = ends[site++]) {
    const std::span<const uint32_t> own{places.data() + begin, places.data() + ends[site]};
    Loop loop = measure(own, rounds);
    if (site == sure && loop.share >= kWhole) return std::nullopt;
    const auto silent = loop.length == 0 ? 0.0 : static_cast<double>(made[threads[site]] - own.back());
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
