#include <algorithm>

#include "model/query/questions.h"

namespace gmt::model {

std::vector<PassBegin> passes(const State &state, const PassQuery &query) {
  const ProcessState *process = state.process(query.process);
  if (!process) return {};
  const auto &begins = process->passes.begins();
  auto first = std::ranges::upper_bound(begins, query.from_ns, {}, &PassBegin::begin_ns);
  if (first != begins.begin()) --first;
  return {first, std::ranges::lower_bound(first, begins.end(), query.to_ns, {}, &PassBegin::begin_ns)};
}

std::vector<Range> ranges(const State &state, const PassQuery &query) {
  std::vector<Range> found;
  const ProcessState *process = state.process(query.process);
  if (!process) return found;
  process->ranges.each([&](Range one) {
    if (one.end_ns > state.now_ns) one.end_ns = ~0ull;  // records are read a little ahead of events
    const uint64_t to_ns = std::min(query.to_ns, state.now_ns + 1);
    const bool in = one.begin_ns < to_ns && one.end_ns > query.from_ns;
    if (in && std::min(one.end_ns, to_ns) - one.begin_ns >= query.least_ns) found.push_back(std::move(one));
  });
  std::ranges::stable_sort(found, {}, [](const Range &one) { return std::pair(one.begin_ns, ~one.end_ns); });
  return found;
}

}  // namespace gmt::model
