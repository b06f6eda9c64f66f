#include <algorithm>

#include "model/query/questions.h"

namespace gmt::model {
namespace {

using StoredBucket = TimelineSeries::StoredBucket;

struct Part {
  std::vector<StoredBucket> stored;
  size_t next = 0;
  int64_t value = 0;  ///< before kept[next]

  /// When kept[next] begins; ~0: there is none.
  uint64_t begin_ns() const { return next < stored.size() ? stored[next].bucket.begin_ns : ~0ull; }
};

/// What the sum of several series does in the buckets that begin at the same moment as the earliest one.
Bucket sum_step(std::vector<Part> &parts, uint64_t begin_ns) {
  Bucket sum{begin_ns, 0, 0, 0};
  size_t changing = 0;
  for (const Part &part : parts) changing += part.begin_ns() == begin_ns;
  for (Part &part : parts) {
    int64_t low = part.value, high = part.value;
    if (part.begin_ns() == begin_ns) {
      const Bucket &bucket = part.stored[part.next++].bucket;
      // Of two that change at about the same time, one may still have its old value when the other moves.
      low = changing > 1 ? std::min(low, bucket.min) : bucket.min;
      high = changing > 1 ? std::max(high, bucket.max) : bucket.max;
      part.value = bucket.last;
    }
    sum.min += low;
    sum.max += high;
    sum.last += part.value;
  }
  return sum;
}

/// Width of output buckets: a multiple of the kept ones where those are narrower, so that none lies in two buckets.
uint64_t output_width(const std::vector<Part> &parts, uint64_t least) {
  uint64_t base = 1;
  for (const Part &part : parts) {
    for (const StoredBucket &stored : part.stored) {
      if (stored.width_ns <= least) base = std::max(base, stored.width_ns);
    }
  }
  return (least + base - 1) / base * base;
}

/// The width of the widest kept bucket that begins first.
uint64_t stored_width(const std::vector<Part> &parts, uint64_t begin_ns) {
  uint64_t width = 0;
  for (const Part &part : parts) {
    if (part.begin_ns() == begin_ns) width = std::max(width, part.stored[part.next].width_ns);
  }
  return width;
}

std::vector<Bucket> reduce(std::vector<Part> parts, uint64_t from_ns, uint64_t width) {
  std::vector<Bucket> out;
  int64_t before = 0;
  for (const Part &part : parts) before += part.value;
  for (;;) {
    uint64_t begin = ~0ull;
    for (const Part &part : parts) begin = std::min(begin, part.begin_ns());
    if (begin == ~0ull) break;
    const bool wide = stored_width(parts, begin) > width;
    Bucket step = sum_step(parts, begin);
    // The first one begins where what was gathered begins, which may be in the middle of an output bucket.
    if (!wide && !out.empty()) step.begin_ns = begin / width * width;
    if (out.empty() || out.back().begin_ns < step.begin_ns)
      out.push_back(step);
    else
      out.back().join(step);
  }
  const bool leads = before != 0 && (out.empty() || out.front().begin_ns > from_ns);
  if (leads) out.insert(out.begin(), {from_ns, before, before, before});
  return out;
}

Layer layer_of(Series series) {
  return series == Series::Driver ? Layer::Driver : series == Series::Host ? Layer::Host : Layer::Tensor;
}

std::vector<const TimelineSeries *> chosen_series(const State &state, const TimelineQuery &query) {
  const auto selected = [&](uint32_t process, uint8_t device) {
    if (query.process != kAll && process != static_cast<uint32_t>(query.process)) return false;
    return !query.device || *query.device == device_number(device);
  };
  std::vector<const TimelineSeries *> chosen;
  if (query.series == Series::Reserved) {
    state.each_process([&](const ProcessState &process) {
      for (const auto &[device, memory] : process.devices) {
        if (memory.has_reserved() && selected(process.number, device)) chosen.push_back(&memory.reserved());
      }
    });
    return chosen;
  }
  for (const Ledger &ledger : state.accounts.ledgers()) {
    if (ledger.layer == layer_of(query.series) && selected(ledger.process, ledger.device))
      chosen.push_back(&ledger.timeline);
  }
  return chosen;
}

}  // namespace

std::vector<Bucket> timeline(const State &state, const TimelineQuery &query) {
  if (query.to_ns <= query.from_ns || query.buckets == 0) return {};
  const std::vector<const TimelineSeries *> chosen = chosen_series(state, query);
  const uint64_t width = (query.to_ns - query.from_ns) / query.buckets;
  std::vector<Part> parts(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    parts[i].stored = chosen[i]->gather(query.from_ns, query.to_ns, width, parts[i].value);
  }
  uint64_t least = std::max<uint64_t>(1, (query.to_ns - query.from_ns + query.buckets - 1) / query.buckets);
  for (;; least *= 2) {
    std::vector<Bucket> out = reduce(parts, query.from_ns, output_width(parts, least));
    if (out.size() <= query.buckets) return out;
    if (least > query.to_ns) return {out.end() - static_cast<std::ptrdiff_t>(query.buckets), out.end()};
  }
}

}  // namespace gmt::model
