#include <algorithm>
#include <map>
#include <unordered_set>

#include "uprobe/before/block.h"

namespace gmt::uprobe {
namespace {

constexpr int kRounds = 100;

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
  uint64_t bytes, end;
  uint8_t device;
  bool expandable;
};

/// By their beginnings. Of several ends that were seen the one that was seen most often holds: a block that is just being cut or
/// joined has its new address and its old size for a moment.
class Segments {
 public:
  void see(uint64_t address, const Segment &segment) {
    Known &known = known_[address];
    const int seen = ++known.ends[segment.end];
    if (known.segment.end == segment.end || (known.segment.end && seen <= known.ends[known.segment.end])) return;
    known.segment = segment;
    changes_++;
  }
  bool holds(uint64_t address) const {
    const auto behind = known_.upper_bound(address);
    return behind != known_.begin() && address < std::prev(behind)->second.segment.end;
  }
  size_t changes() const { return changes_; }
  /// One that begins inside another is none: the block behind a cut has no neighbour before it for a moment.
  template <class Take>
  void each(Take take) const {
    uint64_t end = 0;
    for (const auto &[address, known] : known_) {
      if (address < end) continue;
      take(address, known.segment);
      end = known.segment.end;
    }
  }

 private:
  struct Known {
    Segment segment;
    std::map<uint64_t, int> ends;  ///< how often each was seen
  };
  std::map<uint64_t, Known> known_;
  size_t changes_ = 0;
};

/// What one look saw.
struct Look {
  SeenBlocks blocks;
  /// Those that the maps or the pools have. A free block that neither has is being cut or joined.
  std::unordered_set<uint64_t> settled;
  bool knows_pools = false;

  bool is_settled(uint64_t where, const SeenBlock &block) const {
    return !knows_pools || !block.mapped || settled.count(where);
  }
};

/// Takes note of the segment that begins with the block at `where`, if its blocks fit together, one behind the other. False: they do not.
bool see_segment(const Look &look, uint64_t where, Segments *out) {
  auto at = look.blocks.find(where);
  const uint64_t begin = at->second.address;
  Segment segment{0, begin, at->second.device, false};
  for (size_t steps = 0; at != look.blocks.end() && steps <= look.blocks.size(); steps++) {
    const SeenBlock &block = at->second;
    if (block.address != segment.end || !look.is_settled(at->first, block)) return false;
    segment.end += block.bytes;
    segment.expandable = segment.expandable || !block.mapped;
    if (block.mapped) segment.bytes += block.bytes;
    if (block.next == 0) {
      out->see(begin, segment);
      return true;
    }
    at = look.blocks.find(block.next);
  }
  return false;
}

/// Where chains begin and end, with the number of looks that saw it so. Of a chain that changes all the time no look may see all
/// blocks, but its ends stay.
struct Ends {
  std::map<uint64_t, int> heads, tails;
};
constexpr int kSeenOften = 3;

void see_ends(const Look &look, Ends *ends) {
  for (const auto &[where, block] : look.blocks) {
    if (!block.mapped || !look.is_settled(where, block)) continue;
    if (block.previous == 0) ends->heads[block.address]++;
    if (block.next == 0) ends->tails[block.address + block.bytes]++;
  }
}

/// The next end that was seen often behind an address.
std::map<uint64_t, int>::const_iterator next_often(const std::map<uint64_t, int> &ends, uint64_t address) {
  auto at = ends.upper_bound(address);
  while (at != ends.end() && at->second < kSeenOften) ++at;
  return at;
}

/// Takes note of the segment between a beginning and an end that belong together.
void see_from_ends(const Ends &ends, const SeenBlock &head, Segments *out) {
  const auto seen = ends.heads.find(head.address);
  const auto tail = next_often(ends.tails, head.address), next = next_often(ends.heads, head.address);
  const bool known = seen != ends.heads.end() && seen->second >= kSeenOften && tail != ends.tails.end() &&
                     (next == ends.heads.end() || tail->first <= next->first);
  if (known) out->see(head.address, {tail->first - head.address, tail->first, head.device, false});
}

/// What a look counts for.
constexpr int kLookAtRest = 2, kLook = 1, kEnough = 6;

/// One look at the chains that the blocks at `places` belong to: 0 = some block lies in no segment that is known by now.
int look_at_segments(BoundedMemory &memory, const BlockShape &shape, const std::vector<uint64_t> &places, Ends *ends,
                     Segments *out) {
  Look look;
  if (!read_blocks(memory, shape, places, &look.blocks)) return 0;
  const size_t handed_out = look.blocks.size();
  const bool rested = read_free_blocks(memory, shape, &look.blocks);
  look.knows_pools = look.blocks.size() > handed_out;
  for (const auto &[where, block] : look.blocks) look.settled.insert(where);
  read_neighbours(memory, shape, &look.blocks);
  see_ends(look, ends);
  for (const auto &[where, block] : look.blocks)
    if (block.previous == 0 && !see_segment(look, where, out)) see_from_ends(*ends, block, out);
  const bool known = std::all_of(look.blocks.begin(), look.blocks.end(),
                                 [out](const auto &each) { return out->holds(each.second.address); });
  return !known ? 0 : rested ? kLookAtRest : kLook;
}

}  // namespace

bool read_segments(BoundedMemory &memory, const BlockShape &shape, const MapRun &run, BeforeMemory *out) {
  Segments segments;
  Ends ends;
  int quiet = 0;
  for (int round = 0; round < kRounds && quiet < kEnough && !memory.exhausted(); round++) {
    if (round > 0) memory.wait();
    Handed handed;
    read_maps(memory, run, 1, &handed);
    const size_t before = segments.changes();
    const int worth = look_at_segments(memory, shape, places_of(handed), &ends, &segments);
    quiet = worth > 0 && segments.changes() == before ? quiet + worth : 0;
  }
  segments.each([out](uint64_t address, const Segment &segment) {
    (segment.expandable ? out->mapped : out->segments).push_back({address, segment.bytes, segment.device});
  });
  return quiet >= kEnough;
}

}  // namespace gmt::uprobe
