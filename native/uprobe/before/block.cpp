#include "uprobe/before/block.h"

#include "torch/layouts.h"

namespace gmt::uprobe {
namespace {

constexpr size_t kMostSamples = 2048;
constexpr size_t kMostDevices = 64;

using Layout = torch::BlockLayout;

/// Most of them: a block may be freed while it is looked at.
bool most(size_t some, size_t all) { return some > 0 && some * 4 >= all * 3; }

bool is_pointer(uint64_t word) { return word % 8 == 0 && word < 1ull << 56; }

/// The place of the word that equals the key.
size_t find_address(const std::vector<uint64_t> &keys, const std::vector<std::byte> &images) {
  size_t best = 0, best_count = 0;
  for (size_t at = Layout::kFirstPtr; at <= Layout::kLastPtr; at += 8) {
    size_t count = 0;
    for (size_t i = 0; i < keys.size(); i++)
      count += value_at<uint64_t>(images.data(), i * Layout::kBytes + at) == keys[i];
    if (count > best_count) best = at, best_count = count;
  }
  return most(best_count, keys.size()) ? best : 0;
}

}  // namespace

std::optional<BlockShape> BlockShape::find(BoundedMemory &memory, const Handed &handed) {
  std::vector<uint64_t> keys, places;
  for (const auto &[key, place] : handed) {
    if (!is_pointer(place) || place == 0 || key == 0) continue;
    keys.push_back(key);
    places.push_back(place);
    if (keys.size() == kMostSamples) break;
  }
  std::vector<std::byte> images;
  if (!memory.read_each(places, Layout::kBytes, &images)) return std::nullopt;
  BlockShape shape;
  shape.address_ = find_address(keys, images);
  if (shape.address_ == 0) return std::nullopt;
  for (const ptrdiff_t size : {Layout::kSizeBeforeRequested, Layout::kSizeAlone}) {
    shape.size_ = size;
    if (shape.try_size(memory, keys, images)) return shape;
  }
  return std::nullopt;
}

bool BlockShape::try_size(BoundedMemory &memory, const std::vector<uint64_t> &keys,
                          const std::vector<std::byte> &images) {
  size_t good = 0, mapped = 0;
  std::vector<SeenBlock> blocks;
  has_mapped_ = false;
  for (size_t i = 0; i < keys.size(); i++) {
    const std::byte *image = images.data() + i * Layout::kBytes;
    const auto block = read(image);
    if (!block || block->address != keys[i] || !block->allocated) continue;
    // What was asked for fits into what was given.
    if (size_ == Layout::kSizeBeforeRequested) {
      const auto wanted = value_at<uint64_t>(image, at(Layout::kRequested));
      if (wanted == 0 || wanted > block->bytes) continue;
    }
    good++;
    mapped += value_at<uint8_t>(image, at(Layout::kMapped)) == 1;
    blocks.push_back(*block);
  }
  has_mapped_ = mapped == good;
  return most(good, keys.size()) && chains(memory, blocks);
}

/// Whether the neighbour of a block begins where the block ends.
bool BlockShape::chains(BoundedMemory &memory, const std::vector<SeenBlock> &blocks) const {
  std::vector<uint64_t> ends, places;
  for (const SeenBlock &block : blocks) {
    if (block.next == 0) continue;
    ends.push_back(block.address + block.bytes);
    places.push_back(block.next);
  }
  std::vector<std::byte> images;
  if (!memory.read_each(places, Layout::kBytes, &images)) return false;
  size_t good = 0;
  for (size_t i = 0; i < ends.size(); i++)
    good += value_at<uint64_t>(images.data(), i * Layout::kBytes + address_) == ends[i];
  return ends.empty() || most(good, ends.size());
}

std::optional<SeenBlock> BlockShape::read(const std::byte *bytes) const {
  SeenBlock block;
  const auto device = value_at<int8_t>(bytes, Layout::kDevice);
  block.address = value_at<uint64_t>(bytes, address_);
  block.bytes = value_at<uint64_t>(bytes, at(size_));
  block.pool = value_at<uint64_t>(bytes, at(Layout::kPool));
  const auto allocated = value_at<uint8_t>(bytes, at(Layout::kAllocated));
  block.mapped = !has_mapped_ || value_at<uint8_t>(bytes, at(Layout::kMapped));
  block.previous = value_at<uint64_t>(bytes, at(Layout::kPrevious));
  block.next = value_at<uint64_t>(bytes, at(Layout::kNext));
  block.allocated = allocated == 1;
  block.device = static_cast<uint8_t>(device);
  const bool good = device >= 0 && static_cast<size_t>(device) < kMostDevices && allocated <= 1 && block.address &&
                    block.bytes && block.bytes < 1ull << 47 && block.pool && is_pointer(block.pool) &&
                    is_pointer(block.previous) && is_pointer(block.next);
  return good ? std::optional(block) : std::nullopt;
}

bool read_blocks(BoundedMemory &memory, const BlockShape &shape, const std::vector<uint64_t> &places, SeenBlocks *out) {
  std::vector<std::byte> images;
  if (!memory.read_each(places, Layout::kBytes, &images)) return false;
  for (size_t i = 0; i < places.size(); i++)
    if (const auto block = shape.read(images.data() + i * Layout::kBytes)) (*out)[places[i]] = *block;
  return true;
}

}  // namespace gmt::uprobe
