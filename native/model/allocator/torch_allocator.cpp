#include "model/allocator/torch_allocator.h"

#include <algorithm>
#include <bit>

namespace gmt::model {
namespace {

// Names and values as in c10/cuda/CUDACachingAllocator.cpp.
constexpr uint64_t kMiB = 1ull << 20;
constexpr uint64_t kMinBlockSize = 512;
constexpr uint64_t kSmallSize = CachingAllocator::kSmallBytes;
constexpr uint64_t kSmallBuffer = 2 * kMiB;
constexpr uint64_t kMinLargeAlloc = 10 * kMiB;
constexpr uint64_t kLargeBuffer = 20 * kMiB;
constexpr uint64_t kRoundLarge = 2 * kMiB;

uint64_t round_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

uint64_t CachingAllocator::rounded(uint64_t bytes) const {
  if (bytes < kMinBlockSize) return kMinBlockSize;
  const uint64_t divisions = settings_.roundup_power2_divisions;
  if (divisions > 1 && bytes > kMinBlockSize * divisions) {
    const uint64_t step = std::bit_floor(bytes) / std::bit_floor(divisions);
    return round_up(bytes, std::max<uint64_t>(step, 1));
  }
  return round_up(bytes, kMinBlockSize);
}

uint64_t CachingAllocator::segment_bytes(uint64_t bytes) {
  if (bytes <= kSmallSize) return kSmallBuffer;
  return bytes < kMinLargeAlloc ? kLargeBuffer : round_up(bytes, kRoundLarge);
}

bool CachingAllocator::is_small_segment(uint64_t bytes) { return bytes <= kSmallBuffer; }

uint64_t CachingAllocator::piece_bytes(const Area &area) const { return area.small ? kSmallBuffer : kLargeBuffer; }

CachingAllocator::Area &CachingAllocator::area_of(Pool pool, bool small) {
  return areas_.try_emplace(2ull * pool + small, Area{small, 0, {}, {}}).first->second;
}

const CachingAllocator::Area *CachingAllocator::find_area(Pool pool, bool small) const {
  const auto found = areas_.find(2ull * pool + small);
  return found == areas_.end() ? nullptr : &found->second;
}

CachingAllocator::Block *CachingAllocator::find_free(const Area &area, uint64_t bytes) const {
  auto at = area.free.lower_bound(bytes);
  if (at == area.free.end()) return nullptr;
  if (settings_.expandable_segments) {
    // A block at the end of what is mapped counts with what can be mapped behind it.
    const auto room = [](const Block *block) {
      return block->bytes + (block->after && !block->after->mapped ? block->after->bytes : 0);
    };
    for (auto next = std::next(at); (*at)->expandable && next != area.free.end() && room(*next) < room(*at);)
      at = next++;
  }
  const uint64_t most = settings_.max_split_bytes;
  if (bytes < most && (*at)->bytes >= most) return nullptr;
  if (bytes >= most && (*at)->bytes >= bytes + settings_.max_unsplit_rounding_bytes) return nullptr;
  return *at;
}

std::optional<CachingAllocator::Range> CachingAllocator::best_fit(Pool pool, uint64_t bytes) const {
  const Area *area = find_area(pool, bytes <= kSmallSize);
  const Block *block = area ? find_free(*area, bytes) : nullptr;
  if (!block) return std::nullopt;
  return Range{block->address, block->bytes};
}

std::optional<CachingAllocator::Range> CachingAllocator::allocate(Pool pool, uint64_t bytes) {
  bytes = rounded(bytes);
  Area &area = area_of(pool, bytes <= kSmallSize);
  ++area.requests;
  Block *block = find_free(area, bytes);
  if (!block) {
    if (settings_.garbage_collection_threshold > 0) collect_garbage();
    const auto take = [&] { return settings_.expandable_segments ? grow(area, bytes) : take_segment(area, bytes); };
    block = take();
    if (!block && release_oversized(area, bytes)) block = take();
    if (!block) {
      ++retries_;
      empty_cache();
      block = take();
    }
  }
  if (!block) return std::nullopt;
  use(block, bytes);
  return Range{block->address, block->bytes};
}

CachingAllocator::Placed CachingAllocator::allocate_at(uint64_t address, uint64_t bytes) {
  bytes = rounded(bytes);
  Block key{address, 0, nullptr};
  auto at = all_.upper_bound(&key);
  if (at == all_.begin()) return Placed::kNowhere;
  Block *block = *--at;
  if (block->allocated || !block->mapped || block->address + block->bytes < address + bytes) return Placed::kNowhere;
  if (block->address < address) block = cut(block, address - block->address);
  const bool is_more = block->bytes > bytes;
  use(block, bytes);
  return is_more ? Placed::kCut : Placed::kWhole;
}

bool CachingAllocator::free(uint64_t address) {
  const auto found = allocated_.find(address);
  if (found == allocated_.end()) return false;
  Block *block = found->second;
  allocated_.erase(found);
  allocated_bytes_ -= block->bytes;
  block->allocated = false;
  put_back(block);
  return true;
}

void CachingAllocator::empty_cache() {
  std::vector<Block *> whole, parts;
  for (auto &[key, area] : areas_) {
    for (Block *block : area.free) {
      if (block->expandable)
        parts.push_back(block);
      else if (!block->before && !block->after)
        whole.push_back(block);
    }
  }
  for (Block *block : whole) release(block);
  for (Block *block : parts) unmap(block);
}

void CachingAllocator::add_segment(Pool pool, Range range, bool small) {
  Area &area = area_of(pool, small);
  area.free.insert(new_block({range.address, range.bytes, &area}));
  reserved_bytes_ += range.bytes;
}

bool CachingAllocator::holds(uint64_t address) const {
  Block key{address, 0, nullptr};
  const auto behind = all_.upper_bound(&key);
  return behind != all_.begin() && address < (*std::prev(behind))->address + (*std::prev(behind))->bytes;
}

std::vector<CachingAllocator::Range> CachingAllocator::segments() const {
  std::vector<Range> all;
  bool joins = false;
  for (const Block *block : all_) {
    if (block->mapped && joins && block->before)
      all.back().bytes += block->bytes;
    else if (block->mapped)
      all.push_back({block->address, block->bytes});
    joins = block->mapped;
  }
  return all;
}

bool CachingAllocator::splits(const Block &block, uint64_t bytes) const {
  const uint64_t rest = block.bytes - bytes;
  if (block.area->small || settings_.expandable_segments) return rest >= kMinBlockSize;
  return bytes < settings_.max_split_bytes && rest > kSmallSize;
}

CachingAllocator::Block *CachingAllocator::new_block(const Block &block) {
  if (spare_.empty()) spare_.push_back(&blocks_.emplace_back());
  Block *made = spare_.back();
  spare_.pop_back();
  *made = block;
  if (!block.before) made->segment = block.address;
  all_.insert(made);
  return made;
}

void CachingAllocator::drop(Block *block) {
  all_.erase(block);
  spare_.push_back(block);
}

CachingAllocator::Block *CachingAllocator::take_segment(Area &area, uint64_t bytes) {
  const uint64_t size = segment_bytes(bytes);
  if (!fits_limit(size)) return nullptr;
  Block *block = new_block({driver_(size), size, &area});
  reserved_bytes_ += size;
  area.free.insert(block);
  return block;
}

/// The first block of a run of free and unmapped ones that is long enough; an address range of its own where there is none.
CachingAllocator::Block *CachingAllocator::place_to_grow(Area &area, uint64_t bytes) {
  for (Block *block : area.unmapped) {
    if (block->before && !block->before->allocated) block = block->before;
    uint64_t room = 0;
    for (const Block *at = block; room < bytes && at && !at->allocated; at = at->after) room += at->bytes;
    if (room >= bytes) return block;
  }
  const uint64_t size = round_up(std::max(settings_.address_space_bytes, bytes), piece_bytes(area));
  Block fresh{driver_(size), size, &area};
  fresh.mapped = false;
  fresh.expandable = true;
  Block *made = new_block(fresh);
  area.unmapped.insert(made);
  return made;
}

CachingAllocator::Block *CachingAllocator::grow(Area &area, uint64_t bytes) {
  Block *block = place_to_grow(area, bytes);
  if (!block->mapped && !map(block, std::min(block->bytes, bytes))) return nullptr;
  while (block->bytes < bytes) {
    Block *next = block->after;
    if (!map(next, std::min(bytes - block->bytes, next->bytes))) return nullptr;
    block = next;
  }
  return block;
}

/// Maps the begin of an unmapped block, in whole pieces; `block` has what lies free around it then.
bool CachingAllocator::map(Block *block, uint64_t bytes) {
  const uint64_t size = std::min(block->bytes, round_up(bytes, piece_bytes(*block->area)));
  if (!fits_limit(size)) return false;
  Area &area = *block->area;
  area.unmapped.erase(block);
  if (size < block->bytes) {
    Block *rest = cut(block, size);
    area.unmapped.insert(rest);
  }
  block->mapped = true;
  reserved_bytes_ += size;
  put_back(block);
  return true;
}

/// Gives back the whole pieces inside a free block.
void CachingAllocator::unmap(Block *block) {
  Area &area = *block->area;
  const uint64_t piece = piece_bytes(area);
  const uint64_t first = block->segment + round_up(block->address - block->segment, piece);
  const uint64_t end = block->segment + (block->address + block->bytes - block->segment) / piece * piece;
  if (end <= first) return;
  area.free.erase(block);
  Block *middle = block;
  if (first > block->address) {
    middle = cut(block, first - block->address);
    area.free.insert(block);
  }
  if (end < middle->address + middle->bytes) area.free.insert(cut(middle, end - middle->address));
  middle->mapped = false;
  reserved_bytes_ -= middle->bytes;
  put_back(middle);
}

/// Where big blocks are not split: gives back some that are big enough.
bool CachingAllocator::release_oversized(Area &area, uint64_t bytes) {
  if (settings_.max_split_bytes == kNoLimit) return false;
  const uint64_t least = std::max(bytes, settings_.max_split_bytes);
  const auto whole = [](const Block *block) { return !block->before && !block->after && !block->expandable; };
  const auto first = area.free.lower_bound(least);
  if (first != area.free.end()) {
    if (!whole(*first)) return false;
    release(*first);
    return true;
  }
  uint64_t released = 0;
  for (auto at = area.free.end(); released < least && at != area.free.begin();) {
    Block *block = *--at;
    if (block->bytes < settings_.max_split_bytes) break;
    if (!whole(block)) continue;
    at = std::next(at);
    released += block->bytes;
    release(block);
  }
  return released >= least;
}

/// Gives back whole segments that were free for at least as long as the mean, until what is held is below the threshold.
void CachingAllocator::collect_garbage() {
  if (settings_.limit_bytes == kNoLimit) return;
  const auto threshold =
      static_cast<uint64_t>(settings_.garbage_collection_threshold * static_cast<double>(settings_.limit_bytes));
  std::vector<Block *> whole;
  for (auto &[key, area] : areas_) {
    if (area.small) continue;
    std::ranges::copy_if(area.free, std::back_inserter(whole),
                         [](const Block *block) { return !block->before && !block->after && !block->expandable; });
  }
  const auto age = [](const Block *block) { return static_cast<double>(block->area->requests - block->freed_at); };
  while (!whole.empty() && reserved_bytes_ > threshold) {
    double ages = 0;
    for (const Block *block : whole) ages += age(block);
    const double mean = ages / static_cast<double>(whole.size());
    const auto old = std::ranges::partition(whole, [&](const Block *block) { return age(block) < mean; });
    for (Block *block : old) release(block);
    whole.erase(old.begin(), old.end());
  }
}

void CachingAllocator::release(Block *block) {
  block->area->free.erase(block);
  reserved_bytes_ -= block->bytes;
  drop(block);
}

/// Cuts a block that is in no set of free ones but may be in one by its old size; gives the later part, which is in none.
CachingAllocator::Block *CachingAllocator::cut(Block *block, uint64_t offset) {
  const bool listed = !block->allocated && block->area->free.erase(block) > 0;
  Block rest = *block;
  rest.address += offset;
  rest.bytes -= offset;
  rest.before = block;
  Block *made = new_block(rest);
  if (made->after) made->after->before = made;
  block->after = made;
  block->bytes = offset;
  if (listed) block->area->free.insert(block);
  return made;
}

void CachingAllocator::use(Block *block, uint64_t bytes) {
  Area &area = *block->area;
  area.free.erase(block);
  if (splits(*block, bytes)) area.free.insert(cut(block, bytes));
  block->allocated = true;
  allocated_.emplace(block->address, block);
  allocated_bytes_ += block->bytes;
}

void CachingAllocator::merge(Block *into, Block *other) {
  if (!other || other->allocated || other->mapped != into->mapped) return;
  Area &area = *into->area;
  if (other->mapped)
    area.free.erase(other);
  else
    area.unmapped.erase(other);
  // The lower one's place in the order of addresses stays the one of both.
  all_.erase(into);
  if (other->address < into->address) {
    into->address = other->address;
    into->before = other->before;
    if (into->before) into->before->after = into;
  } else {
    into->after = other->after;
    if (into->after) into->after->before = into;
  }
  into->bytes += other->bytes;
  drop(other);
  all_.insert(into);
}

void CachingAllocator::put_back(Block *block) {
  merge(block, block->before);
  merge(block, block->after);
  block->freed_at = block->area->requests;
  if (block->mapped)
    block->area->free.insert(block);
  else
    block->area->unmapped.insert(block);
}

}  // namespace gmt::model
