#include <algorithm>

#include "model/query/questions.h"

namespace gmt::model {

std::vector<Range> ranges(const State &state, const RangeQuery &query) {
  std::vector<Range> found;
  const ProcessState *process = state.process(query.process);
  if (!process) return found;
  process->ranges.each([&](Range one) {
    // Records are read a little ahead of events.
    if (one.end_ns > state.now_ns) one.end_ns = ~0ull;
    const uint64_t to_ns = std::min(query.to_ns, state.now_ns + 1), end_ns = std::min(one.end_ns, to_ns);
    if (one.begin_ns < to_ns && one.end_ns > query.from_ns && end_ns - one.begin_ns >= query.least_ns)
      found.push_back(std::move(one));
  });
  std::ranges::stable_sort(found, [](const Range &a, const Range &b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  return found;
}

}  // namespace gmt::model
