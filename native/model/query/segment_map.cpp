#include "model/query/segment_map.h"

#include <algorithm>

#include "model/model.h"

namespace gmt::model {
namespace {

bool begins_before(const Segment &a, const Segment &b) { return a.begin < b.begin; }

/// Pieces that touch become one.
std::vector<Segment> joined(std::vector<Segment> pieces) {
  std::sort(pieces.begin(), pieces.end(), begins_before);
  std::vector<Segment> out;
  for (const Segment &piece : pieces) {
    if (out.empty() || piece.begin > out.back().end) {
      out.push_back(piece);
      continue;
    }
    Segment &last = out.back();
    last.end = std::max(last.end, piece.end);
    if (piece.time_ns >= last.time_ns) continue;
    last.time_ns = piece.time_ns;
    last.cell = piece.cell;
  }
  return out;
}

/// Keeps the `most` biggest, in the order in which they were.
template <typename Item, typename Bytes>
void keep_biggest(std::vector<Item> &items, size_t most, Bytes bytes) {
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

}  // namespace

/// The blocks of the framework on a device, in address order.
std::vector<const TensorBlock *> Model::tensors_on(const ProcessState &state, int32_t device) {
  std::vector<const TensorBlock *> found;
  state.tensors.each([&](const TensorBlock &block) {
    if (device_number(static_cast<uint8_t>(block.device)) == device && block.bytes > 0) found.push_back(&block);
  });
  std::sort(found.begin(), found.end(),
            [](const TensorBlock *a, const TensorBlock *b) { return a->address < b->address; });
  return found;
}

/// What the driver gave in one piece: to a caching allocator, or all. Then what is mapped, piece by piece.
std::vector<Segment> Model::segments_on(uint32_t process, int32_t device, bool all) const {
  std::vector<Segment> pieces, maps;
  blocks_.each([&](uint32_t, const Block &block) {
    const bool here = accounts_.cell_infos()[block.cell].process == process && device_number(block.device) == device;
    if (!here || !(block.segment || (all && block.space == Space::Device))) return;
    pieces.push_back({block.address, block.address + block.bytes, block.stream, block.time_ns, block.cell, false});
  });
  states_[process]->memory.each_map([&](const Mapping &mapping) {
    if (mapping.block == kNone) return;
    const Block &physical = blocks_[mapping.block];
    if (device_number(physical.device) != device) return;
    maps.push_back({mapping.address, mapping.address + mapping.bytes, 0, physical.time_ns, physical.cell, true});
  });
  const std::vector<Segment> regions = joined(std::move(maps));
  pieces.insert(pieces.end(), regions.begin(), regions.end());
  std::sort(pieces.begin(), pieces.end(), begins_before);
  return pieces;
}

/// Counts the segment's blocks and the gaps between them.
void Model::measure(Segment &segment, const std::vector<const TensorBlock *> &tensors) {
  auto first = std::lower_bound(tensors.cbegin(), tensors.cend(), segment.begin,
                                [](const TensorBlock *block, uint64_t address) { return block->address < address; });
  uint64_t at = segment.begin;
  const auto reach = [&](uint64_t to) {
    if (to <= at) return;
    segment.gap_bytes += to - at;
    segment.largest_gap = std::max(segment.largest_gap, to - at);
  };
  for (; first != tensors.cend() && (*first)->address < segment.end; ++first) {
    const TensorBlock &block = **first;
    reach(block.address);
    at = std::max(at, std::min(block.address + block.bytes, segment.end));
    segment.live_bytes += block.bytes;
    ++segment.blocks;
  }
  reach(segment.end);
}

/// Segments are what the caching allocator got from the driver in one piece; memory that is mapped piece by piece counts
/// where tensors lie in it, since others map memory too.
std::vector<Segment> Model::framework_segments(uint32_t process, int32_t device,
                                               const std::vector<const TensorBlock *> &tensors) const {
  std::vector<Segment> segments = segments_on(process, device, false);
  for (Segment &segment : segments) measure(segment, tensors);
  std::erase_if(segments, [](const Segment &segment) { return segment.mapped && segment.blocks == 0; });
  return segments;
}

SegmentMap Model::segments(const SegmentQuery &query) {
  SegmentMap out;
  if (!process(query.process)) return out;
  accounts_.resolve_pending();
  const ProcessState &state = *process(query.process);
  const std::vector<const TensorBlock *> tensors = tensors_on(state, query.device);
  out.segments = framework_segments(query.process, query.device, tensors);
  const auto known = state.devices.find(static_cast<uint8_t>(query.device));
  const bool reserves = known != state.devices.end() && known->second.knows_reserved();
  out.of_driver = out.segments.empty() && tensors.empty() && !reserves;
  if (out.of_driver) {
    out.segments = segments_on(query.process, query.device, true);
    for (Segment &segment : out.segments) segment.live_bytes = segment.end - segment.begin;
  }
  count_outside(tensors, out);
  const size_t all = out.segments.size();
  keep_biggest(out.segments, SegmentMap::kSegments, [](const Segment &one) { return one.end - one.begin; });
  out.segments_left_out = all - out.segments.size();
  for (const Segment &segment : out.segments) out.sites.push_back(site_of(segment.cell));
  add_blocks(state, tensors, out);
  if (query.max_blocks == 0) out.blocks.clear();
  keep_biggest(out.blocks, query.max_blocks, [](const SegmentBlock &one) { return one.bytes; });
  count_left_out(tensors, out);
  return out;
}

/// The blocks that lie beside all segments.
void Model::count_outside(const std::vector<const TensorBlock *> &tensors, SegmentMap &out) {
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

void Model::count_left_out(const std::vector<const TensorBlock *> &tensors, SegmentMap &out) {
  uint64_t bytes = 0, shown = 0;
  for (const TensorBlock *block : tensors) bytes += block->bytes;
  for (const SegmentBlock &block : out.blocks) shown += block.bytes;
  out.blocks_left_out = tensors.size() - out.blocks_outside - out.blocks.size();
  out.bytes_left_out = bytes - out.bytes_outside - shown;
}

void Model::add_blocks(const ProcessState &state, const std::vector<const TensorBlock *> &tensors,
                       SegmentMap &out) const {
  auto first = tensors.cbegin();
  for (uint32_t at = 0; at < out.segments.size(); ++at) {
    const Segment &segment = out.segments[at];
    while (first != tensors.cend() && (*first)->address < segment.begin) ++first;
    for (; first != tensors.cend() && (*first)->address < segment.end; ++first) {
      const TensorBlock &block = **first;
      out.blocks.push_back({at, block.address - segment.begin, block.bytes, block.time_ns, site_of(block.cell),
                            state.frame->step - block.step, category_of(state, block)});
    }
  }
}

}  // namespace gmt::model
