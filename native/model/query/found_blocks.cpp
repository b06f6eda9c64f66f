#include "model/query/found_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <utility>

namespace gmt::model {
namespace {

/// So many are sorted as they are.
constexpr size_t kFew = 4096;
constexpr int kBucketBits = 11;

/// Least order, and how far the highest is above it.
std::pair<uint64_t, uint64_t> range_of(std::span<const Found> blocks) {
  uint64_t least = ~0ull, most = 0;
  for (const Found &one : blocks) {
    least = std::min(least, one.order);
    most = std::max(most, one.order);
  }
  return {least, most - least};
}

}  // namespace

/// Leaves of the part the blocks whose order is near that of the window. False: those are all.
bool FoundBlocks::narrow(Part &part) {
  auto [base, range] = range_of(part.blocks);
  if (range == 0) {
    for (Found &one : part.blocks) one.order = one.address();
    std::tie(base, range) = range_of(part.blocks);
  }
  const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - kBucketBits);
  const auto bucket = [base, shift](const Found &one) { return (one.order - base) >> shift; };
  std::array<uint32_t, 1u << kBucketBits> counts{};
  for (const Found &one : part.blocks) ++counts[bucket(one)];
  size_t first = 0, before = 0;
  while (before + counts[first] <= part.from) before += counts[first++];
  size_t last = first, until = before + counts[first];
  while (until < part.to) until += counts[++last];
  size_t kept = 0;
  for (const Found one : part.blocks) {
    part.blocks[kept] = one;
    kept += (bucket(one) >= first) & (bucket(one) <= last);
  }
  const bool fewer = kept < part.blocks.size();
  part = {part.blocks.first(kept), part.from - before, part.to - before};
  return fewer;
}

std::span<const Found> FoundBlocks::window(size_t from, size_t to) {
  if (from >= to) return {};
  Part part{all(), from, to};
  while (part.blocks.size() > std::max(kFew, 2 * (to - from)) && narrow(part)) {
  }
  const auto at = [&](size_t i) { return part.blocks.begin() + static_cast<std::ptrdiff_t>(i); };
  if (part.from > 0) std::nth_element(part.blocks.begin(), at(part.from), part.blocks.end());
  std::partial_sort(at(part.from), at(part.to), part.blocks.end());
  return part.blocks.subspan(part.from, part.to - part.from);
}

}  // namespace gmt::model
