#include "uprobe/before/torch.h"

#include <algorithm>

#include "torch/layouts.h"
#include "uprobe/before/block.h"
#include "uprobe/before/map.h"

namespace gmt::uprobe {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kTries = 5, kObjectLooks = 4, kMapRounds = 8;
constexpr size_t kMostNameBytes = 200;

/// The object and what lies behind it, as far as that can be read.
std::vector<std::byte> read_object(BoundedMemory &memory, uint64_t object) {
  std::vector<std::byte> bytes;
  while (bytes.size() < torch::kMostAllocatorBytes) {
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
  SeenBlocks seen;  ///< that are handed out
};

/// The blocks that the maps of one run hold. Nullopt: they are maps of something else.
std::optional<Found> read_run(BoundedMemory &memory, const MapRun &run, std::optional<BlockShape> *shape) {
  Handed handed;
  Found found;
  found.run = run;
  read_maps(memory, run, kMapRounds, &handed);
  if (handed.empty()) return found;
  Handed recent;  // most of what several looks saw may be gone by now
  read_maps(memory, run, 1, &recent);
  *shape = BlockShape::find(memory, recent.empty() ? handed : recent);
  if (!*shape) return std::nullopt;
  SeenBlocks all;
  if (!read_blocks(memory, **shape, places_of(handed), &all)) return std::nullopt;
  for (const auto &[address, place] : handed) {
    const auto block = all.find(place);
    const bool is_there = block != all.end() && block->second.address == address && block->second.allocated;
    if (is_there) found.seen.insert(*block);  // else freed meanwhile
  }
  return found;
}

void sort(std::vector<BeforeBlock> *blocks) { std::ranges::sort(*blocks, {}, &BeforeBlock::address); }

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
  std::vector<std::vector<std::byte>> looks;
  std::optional<Found> best;
  std::optional<BlockShape> best_shape;
  for (int round = 0; round < kTries && !(best && !best->seen.empty()) && !memory.exhausted(); round++) {
    for (int i = 0; i < kObjectLooks; i++) {
      if (!looks.empty()) memory.wait();
      looks.push_back(read_object(memory, object));
    }
    if (looks.back().empty()) return "PyTorch's allocator cannot be read";
    for (const MapRun &run : find_maps(object, looks)) {
      std::optional<BlockShape> shape;
      auto found = read_run(memory, run, &shape);
      if (!found || (best && found->seen.size() <= best->seen.size())) continue;
      best = std::move(found);
      best_shape = shape;
    }
  }
  if (memory.exhausted()) return "PyTorch's allocator holds more than could be read in time";
  if (!best) return "PyTorch's allocator keeps its blocks in a way that is not known";
  for (const auto &[where, block] : best->seen) out->blocks.push_back({block.address, block.bytes, block.device});
  if (best_shape && !read_segments(memory, *best_shape, best->run, out)) out->whole = false;
  sort(&out->blocks);
  sort(&out->segments);
  sort(&out->mapped);
  return {};
}

}  // namespace gmt::uprobe
