#include "uprobe/before_torch.h"

#include <algorithm>
#include <unordered_set>

#include "uprobe/before_block.h"
#include "uprobe/before_map.h"

namespace gmt::uprobe {
namespace {

constexpr uint64_t kPage = 4096, kMostObjectBytes = 16384;
constexpr int kRounds = 3, kSegmentRounds = 20;
constexpr size_t kMostNameBytes = 200;

/// The object and what lies behind it, as far as that can be read.
std::vector<std::byte> read_object(BoundedMemory &memory, uint64_t object) {
  std::vector<std::byte> bytes;
  while (bytes.size() < kMostObjectBytes) {
    const uint64_t at = object + bytes.size();
    const size_t part = kPage - at % kPage;
    bytes.resize(bytes.size() + part);
    if (memory.read(at, bytes.data() + bytes.size() - part, part)) continue;
    bytes.resize(bytes.size() - part);
    break;
  }
  return bytes;
}

struct Found {
  MapRun run{};
  SeenBlocks seen;
  size_t allocated = 0;
  bool whole = false;
};

/// The blocks that the maps of one run hold. Nullopt: they are maps of something else.
std::optional<Found> read_run(BoundedMemory &memory, const MapRun &run, std::optional<BlockShape> *shape) {
  Handed handed;
  Found found;
  found.run = run;
  for (int round = 0; round < kRounds && !found.whole && !memory.exhausted(); round++)
    found.whole = read_maps(memory, run, &handed);
  if (handed.empty()) return found;
  *shape = BlockShape::find(memory, handed);
  if (!*shape) return std::nullopt;
  std::vector<uint64_t> places;
  for (const auto &[address, place] : handed) places.push_back(place);
  SeenBlocks all;
  if (!read_blocks(memory, **shape, places, &all)) return std::nullopt;
  for (const auto &[address, place] : handed) {
    const auto block = all.find(place);
    if (block == all.end() || block->second.address != address || !block->second.allocated)
      found.whole = false;  // freed meanwhile
    else
      found.seen.insert(*block);
  }
  found.allocated = found.seen.size();
  return found;
}

/// Adds the neighbours of the blocks, and theirs.
void read_neighbours(BoundedMemory &memory, const BlockShape &shape, SeenBlocks *blocks) {
  std::unordered_set<uint64_t> asked;
  std::vector<uint64_t> places;
  const auto ask = [&](uint64_t place) {
    if (place && !blocks->count(place) && asked.insert(place).second) places.push_back(place);
  };
  for (const auto &[where, block] : *blocks) ask(block.previous), ask(block.next);
  while (!places.empty() && blocks->size() < memory.limits().blocks) {
    SeenBlocks fresh;
    if (!read_blocks(memory, shape, places, &fresh)) return;
    places.clear();
    blocks->insert(fresh.begin(), fresh.end());
    for (const auto &[where, block] : fresh) ask(block.previous), ask(block.next);
  }
}

struct Segment {
  uint64_t bytes;
  uint8_t device;
  bool expandable;
};
using Segments = std::unordered_map<uint64_t, Segment>;

/// The segment that begins with `head`: its blocks, one behind the other. False: they do not fit together.
bool add_segment(const SeenBlocks &blocks, const SeenBlock &head, Segments *out) {
  Segment segment{0, head.device, false};
  uint64_t end = head.address;
  size_t steps = 0;
  for (const SeenBlock *block = &head; block; steps++) {
    if (block->address != end || steps > blocks.size()) return false;
    end += block->bytes;
    segment.expandable = segment.expandable || !block->mapped;
    if (block->mapped) segment.bytes += block->bytes;
    const auto next = blocks.find(block->next);
    if (block->next && next == blocks.end()) return false;
    block = block->next ? &next->second : nullptr;
  }
  out->emplace(head.address, segment);
  return true;
}

/// One look at the chains that the blocks at `places` belong to. False: some changed while they were read.
bool look_at_segments(BoundedMemory &memory, const BlockShape &shape, const std::vector<uint64_t> &places,
                      Segments *out) {
  SeenBlocks blocks;
  if (!read_blocks(memory, shape, places, &blocks)) return false;
  read_free_blocks(memory, shape, &blocks);
  read_neighbours(memory, shape, &blocks);
  bool whole = true;
  for (const auto &[where, block] : blocks)
    if (block.previous == 0 && !add_segment(blocks, block, out)) whole = false;
  return whole;
}

/// Where a segment lies does not change as long as it lives, so what one look misses another may add. It is over when two looks
/// find nothing new.
bool take_segments(BoundedMemory &memory, const BlockShape &shape, const MapRun &run, BeforeMemory *out) {
  Segments segments;
  Handed handed;
  int quiet = 0;
  for (int round = 0; round < kSegmentRounds && quiet < 2 && !memory.exhausted(); round++) {
    read_maps(memory, run, &handed);
    std::vector<uint64_t> places;
    for (const auto &[address, place] : handed) places.push_back(place);
    const size_t before = segments.size();
    const bool whole = look_at_segments(memory, shape, places, &segments);
    quiet = whole && segments.size() == before ? quiet + 1 : 0;
  }
  for (const auto &[address, segment] : segments)
    (segment.expandable ? out->mapped : out->segments).push_back({address, segment.bytes, segment.device});
  return quiet == 2;
}

void sort(std::vector<BeforeBlock> *blocks) {
  std::sort(blocks->begin(), blocks->end(),
            [](const BeforeBlock &a, const BeforeBlock &b) { return a.address < b.address; });
}

}  // namespace

std::string class_name(BoundedMemory &memory, uint64_t object) {
  const auto table = memory.read<uint64_t>(object);
  const auto type = table ? memory.read<uint64_t>(*table - 8) : std::nullopt;
  const auto name = type ? memory.read<uint64_t>(*type + 8) : std::nullopt;
  std::string text;
  for (char c; name && text.size() < kMostNameBytes && memory.read(*name + text.size(), &c, 1) && c;) text += c;
  return text;
}

std::string read_torch_allocator(BoundedMemory &memory, uint64_t object, BeforeMemory *out) {
  const auto bytes = read_object(memory, object);
  if (bytes.empty()) return "PyTorch's allocator cannot be read";
  std::optional<Found> best;
  std::optional<BlockShape> best_shape;
  for (const MapRun &run : find_maps(object, bytes)) {
    std::optional<BlockShape> shape;
    auto found = read_run(memory, run, &shape);
    if (!found || (best && found->allocated <= best->allocated)) continue;
    best = std::move(found);
    best_shape = shape;
  }
  if (memory.exhausted()) return "PyTorch's allocator holds more than could be read in time";
  if (!best) return "PyTorch's allocator keeps its blocks in a way that is not known";
  for (const auto &[where, block] : best->seen) out->blocks.push_back({block.address, block.bytes, block.device});
  if (best_shape && !take_segments(memory, *best_shape, best->run, out)) out->whole = false;
  sort(&out->blocks);
  sort(&out->segments);
  sort(&out->mapped);
  return {};
}

}  // namespace gmt::uprobe
