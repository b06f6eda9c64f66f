#include "model/query/segment_map.h"

#include <algorithm>

#include "model/query/pools.h"
#include "model/query/questions.h"
#include "model/query/segment_list.h"

namespace gmt::model {
namespace {

/// Keeps the `most` biggest, in the order in which they were.
template <typename Item, typename Bytes>
void retain_biggest(std::vector<Item> &items, size_t most, Bytes bytes) {
  if (items.size() <= most) return;
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(order.begin(), middle, order.end(), [&](size_t a, size_t b) {
    return bytes(items[a]) != bytes(items[b]) ? bytes(items[a]) > bytes(items[b]) : a < b;
  });
  std::sort(order.begin(), middle);
  for (size_t i = 0; i < most; ++i) items[i] = items[order[i]];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(most), items.end());
}

/// The blocks that lie beside all segments.
void count_outside(const std::vector<const TensorBlock *> &tensors, SegmentMap &out) {
  uint64_t covered = 0;
  auto segment = out.segments.cbegin();
  for (const TensorBlock *block : tensors) {
    for (; segment != out.segments.cend() && segment->begin <= block->address; ++segment) {
      covered = std::max(covered, segment->end);
    }
    if (block->address < covered) continue;
    ++out.blocks_outside;
    out.bytes_outside += block->bytes;
  }
}

void count_left_out(const std::vector<const TensorBlock *> &tensors, SegmentMap &out) {
  uint64_t bytes = 0, shown = 0;
  for (const TensorBlock *block : tensors) bytes += block->bytes;
  for (const SegmentBlock &block : out.blocks) shown += block.bytes;
  out.blocks_left_out = tensors.size() - out.blocks_outside - out.blocks.size();
  out.bytes_left_out = bytes - out.bytes_outside - shown;
}

void add_blocks(const State &state, const ProcessState &process, const std::vector<const TensorBlock *> &tensors,
                SegmentMap &out) {
  auto first = tensors.cbegin();
  for (uint32_t at = 0; at < out.segments.size(); ++at) {
    const Segment &segment = out.segments[at];
    while (first != tensors.cend() && (*first)->address < segment.begin) ++first;
    for (; first != tensors.cend() && (*first)->address < segment.end; ++first) {
      const TensorBlock &block = **first;
      out.blocks.push_back({at, block.address - segment.begin, block.bytes, state.accounts.site_of(block.cell),
                            process.frame->step - block.step, process.category_of(block)});
    }
  }
}

/// What is not known is named last.
void name_pools(const ProcessState &process, SegmentMap &out) {
  if (std::ranges::all_of(out.segments, [](const Segment &one) { return one.pool == kNone; })) return;
  for (const Pool &pool : process.pools.pools()) out.pool_labels.push_back(pool.label());
  for (const Segment &segment : out.segments)
    out.pools.push_back(std::min(segment.pool, static_cast<uint32_t>(process.pools.pools().size())));
  out.pool_labels.push_back(kPoolUnknown);
}

}  // namespace

SegmentMap segments(const State &state, const SegmentQuery &query) {
  SegmentMap out;
  if (!state.process(query.process)) return out;
  const ProcessState &process = *state.process(query.process);
  const std::vector<const TensorBlock *> tensors = tensors_on(process, query.device);
  out.segments = framework_segments(state, query.process, query.device, tensors);
  const auto known = process.devices.find(static_cast<uint8_t>(query.device));
  const bool reserves = known != process.devices.end() && known->second.has_reserved();
  out.of_driver = out.segments.empty() && tensors.empty() && !reserves;
  if (out.of_driver) {
    out.segments = segments_on(state, query.process, query.device, true);
    for (Segment &segment : out.segments) segment.live_bytes = segment.end - segment.begin;
  }
  count_outside(tensors, out);
  const size_t all = out.segments.size();
  retain_biggest(out.segments, SegmentMap::kSegments, [](const Segment &one) { return one.end - one.begin; });
  out.segments_left_out = all - out.segments.size();
  for (const Segment &segment : out.segments) out.sites.push_back(state.accounts.site_of(segment.cell));
  name_pools(process, out);
  add_blocks(state, process, tensors, out);
  if (query.max_blocks == 0) out.blocks.clear();
  retain_biggest(out.blocks, query.max_blocks, [](const SegmentBlock &one) { return one.bytes; });
  count_left_out(tensors, out);
  return out;
}

}  // namespace gmt::model
