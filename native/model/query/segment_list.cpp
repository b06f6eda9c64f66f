#include "model/query/segment_list.h"

#include <algorithm>

#include "model/query/questions.h"

namespace gmt::model {
namespace {

/// Pieces that touch become one.
std::vector<Segment> joined(std::vector<Segment> pieces) {
  std::ranges::sort(pieces, {}, &Segment::begin);
  std::vector<Segment> out;
  for (const Segment &piece : pieces) {
    if (out.empty() || piece.begin > out.back().end) {
      out.push_back(piece);
      continue;
    }
    Segment &last = out.back();
    last.end = std::max(last.end, piece.end);
    last.framework |= piece.framework;
    if (piece.time_ns >= last.time_ns) continue;
    last.time_ns = piece.time_ns;
    last.cell = piece.cell;
  }
  return out;
}

/// Counts the segment's blocks and the gaps between them.
void measure(Segment &segment, const std::vector<const TensorBlock *> &tensors) {
  auto first = std::ranges::lower_bound(tensors, segment.begin, {}, &TensorBlock::address);
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

}  // namespace

std::vector<const TensorBlock *> tensors_on(const ProcessState &process, int32_t device) {
  std::vector<const TensorBlock *> found;
  process.tensors.each([&](const TensorBlock &block) {
    if (device_number(static_cast<uint8_t>(block.device)) == device && block.bytes > 0) found.push_back(&block);
  });
  std::ranges::sort(found, {}, &TensorBlock::address);
  return found;
}

std::vector<Segment> segments_on(const State &state, uint32_t process, int32_t device, bool all) {
  std::vector<Segment> pieces, maps;
  state.blocks.each([&](uint32_t, const Block &block) {
    const bool here =
        state.accounts.cell_infos()[block.cell].process == process && device_number(block.device) == device;
    // Physical memory is where it is mapped.
    if (!here || block.space == Space::Physical || !(block.segment || (all && block.space == Space::Device))) return;
    pieces.push_back(
        {block.address, block.address + block.bytes, block.stream, block.time_ns, block.cell, false, block.segment});
  });
  state.process(process)->memory.each_map([&](const Mapping &mapping) {
    if (mapping.block == kNone) return;
    const Block &physical = state.blocks[mapping.block];
    if (device_number(physical.device) != device) return;
    maps.push_back(
        {mapping.address, mapping.address + mapping.bytes, 0, physical.time_ns, physical.cell, true, physical.segment});
  });
  const std::vector<Segment> regions = joined(std::move(maps));
  pieces.insert(pieces.end(), regions.begin(), regions.end());
  std::ranges::sort(pieces, {}, &Segment::begin);
  return pieces;
}

std::vector<Segment> framework_segments(const State &state, uint32_t process, int32_t device,
                                        const std::vector<const TensorBlock *> &tensors) {
  std::vector<Segment> segments = segments_on(state, process, device, false);
  const PoolBook &pools = state.process(process)->pools;
  for (Segment &segment : segments) {
    measure(segment, tensors);
    segment.pool = pools.find(static_cast<uint8_t>(device), segment.begin, segment.end, segment.time_ns);
  }
  // What others map, such as communication libraries, has no tensor in it.
  std::erase_if(segments, [](const Segment &segment) { return !segment.framework && segment.blocks == 0; });
  return segments;
}

Fragmentation fragmentation(const State &state, uint32_t process, int32_t device) {
  Fragmentation out;
  if (!state.process(process)) return out;
  const std::vector<const TensorBlock *> tensors = tensors_on(*state.process(process), device);
  for (const Segment &segment : framework_segments(state, process, device, tensors)) {
    if (segment.pool != 0 && segment.pool != kNone) continue;
    ++out.segments;
    out.segment_bytes += segment.end - segment.begin;
    out.free_bytes += segment.gap_bytes;
    out.largest_free_bytes = std::max(out.largest_free_bytes, segment.largest_gap);
    if (segment.blocks == 0) out.empty_bytes += segment.gap_bytes;
    out.partly_used_segments += segment.blocks > 0 && segment.gap_bytes > 0;
  }
  return out;
}

}  // namespace gmt::model
