#include <algorithm>

#include "model/query/questions.h"

namespace gmt::model {

std::vector<PassBegin> passes(const State &state, const PassQuery &query) {
  const ProcessState *process = state.process(query.process);
  if (!process) return {};
  const auto &kept = process->passes.kept();
  const auto begins_by = [](uint64_t time_ns, const PassBegin &one) { return time_ns < one.begin_ns; };
  auto first = std::upper_bound(kept.begin(), kept.end(), query.from_ns, begins_by);
  if (first != kept.begin()) --first;
  return {first, std::lower_bound(first, kept.end(), query.to_ns,
                                  [](const PassBegin &one, uint64_t time_ns) { return one.begin_ns < time_ns; })};
}

}  // namespace gmt::model
