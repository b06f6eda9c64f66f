#include <algorithm>
#include <map>

#include "model/model.h"

namespace gmt::model {

std::vector<FreeLine> Model::free_lines(uint32_t site) {
  accounts_.resolve_pending();
  const auto &sites = accounts_.sites();
  while (site < sites.size() && sites[site].merged_into != kNone) site = sites[site].merged_into;
  if (site >= sites.size()) return {};
  std::map<uint64_t, FreeLine> lines;  // stacks with equal frames are one
  for (const FreeStack &one : sites[site].free_stacks) {
    FreeLine line{one.count, one.last_step, {}};
    if (!names_.stack(sites[site].process, one.stack, line.stack)) continue;
    const auto [known, is_new] = lines.emplace(summarize(line.stack).content, line);
    if (is_new) continue;
    known->second.count += one.count;
    known->second.last_step = std::max(known->second.last_step, one.last_step);
  }
  std::vector<FreeLine> sorted;
  for (auto &[content, line] : lines) sorted.push_back(std::move(line));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const FreeLine &a, const FreeLine &b) { return a.count > b.count; });
  if (sorted.size() > kFreeLines) sorted.resize(kFreeLines);
  return sorted;
}

}  // namespace gmt::model
