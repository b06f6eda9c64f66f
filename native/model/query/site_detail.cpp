#include <algorithm>
#include <map>

#include "model/query/questions.h"

namespace gmt::model {

std::optional<SiteDetail> site(const State &state, uint32_t id) {
  id = state.accounts.current_site(id);
  if (id >= state.accounts.sites().size()) return std::nullopt;
  const SiteInfo &info = state.accounts.sites()[id];
  const auto pass = static_cast<Pass>(state.accounts.cells()[info.cells.front()].pass);
  SiteDetail detail{id, info.key(), info.layer, info.shown_source(), pass, {}, info.library.path};
  if (info.stack) state.names.stack(info.process, info.stack, detail.stack);
  return detail;
}

std::vector<FreeLine> free_lines(const State &state, uint32_t id) {
  const uint32_t site = state.accounts.current_site(id);
  if (site >= state.accounts.sites().size()) return {};
  const SiteInfo &info = state.accounts.sites()[site];
  std::map<uint64_t, FreeLine> lines;  // stacks with equal frames are one
  for (const FreeStack &one : info.free_stacks) {
    FreeLine line{one.count, one.last_step, {}};
    if (!state.names.stack(info.process, one.stack, line.stack)) continue;
    const auto [known, is_new] = lines.emplace(summarize(line.stack).content, line);
    if (is_new) continue;
    known->second.count += one.count;
    known->second.last_step = std::max(known->second.last_step, one.last_step);
  }
  std::vector<FreeLine> sorted;
  for (auto &[content, line] : lines) sorted.push_back(std::move(line));
  std::ranges::stable_sort(sorted, std::greater{}, &FreeLine::count);
  if (sorted.size() > kFreeLines) sorted.resize(kFreeLines);
  return sorted;
}

}  // namespace gmt::model
