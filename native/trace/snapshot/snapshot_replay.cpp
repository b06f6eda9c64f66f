#include "trace/snapshot/snapshot_replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace gmt::trace {
namespace {

// PyTorch's allocator hands out multiples of this (kMinBlockSize in c10/cuda/CUDACachingAllocator.cpp).
constexpr uint64_t kRounding = 512;
constexpr uint64_t kMostMaps = 50'000'000;
constexpr size_t kFreed = ~size_t{0};

/// What the allocator hands out for it; of pinned memory that is not known.
uint64_t rounded(const SnapshotAction &action) {
  if (action.device == GMT_DEVICE_NONE) return action.bytes;
  return (std::max<uint64_t>(action.bytes, 1) + kRounding - 1) / kRounding * kRounding;
}

class Replay {
 public:
  explicit Replay(SnapshotData &data) : data_(data) {}

  void blocks() {
    Places places;
    places.reserve(data_.actions.size() / 4 + data_.blocks.size());
    const size_t count = data_.actions.size();
    for (size_t i = 0; i < count; ++i) {
      const auto kind = data_.actions[i].kind;
      if (kind >= SnapshotAction::kAlloc && kind <= SnapshotAction::kFreeCompleted) follow(i, places);
    }
    compare_with_end(places);
  }
  void segments() {
    std::map<uint64_t, const SnapshotAction *> last;  // by address and device
    for (const SnapshotAction &action : data_.actions) {
      if (action.kind != SnapshotAction::kSegmentAlloc && action.kind != SnapshotAction::kSegmentFree) continue;
      const bool known = !last.insert_or_assign(key(action), &action).second;
      if (known || action.kind == SnapshotAction::kSegmentAlloc) continue;
      out_.segments.push_back({action.address, action.bytes, action.stream, 0, action.device, false});
    }
    std::vector<SnapshotAction> missing;
    std::set<uint8_t> devices;  // that list their segments
    std::set<uint64_t> there;   // as `last`
    for (const SnapshotSegment &segment : data_.segments) {
      devices.insert(segment.device);
      if (segment.expandable) continue;
      const bool first = there.insert(key(segment)).second;
      const auto found = last.find(key(segment));
      if (found == last.end())
        out_.segments.push_back(segment);
      else if (first && found->second->kind == SnapshotAction::kSegmentFree)
        missing.push_back(at_end(SnapshotAction::kSegmentAlloc, segment));
    }
    for (const auto &[place, action] : last) {
      if (action->kind == SnapshotAction::kSegmentAlloc && devices.contains(action->device) && !there.contains(place))
        missing.push_back(at_end(SnapshotAction::kSegmentFree, *action));
    }
    data_.actions.insert(data_.actions.end(), missing.begin(), missing.end());
    out_.unrecorded_segments = missing.size();
  }
  bool pieces() {
    cut_pieces();
    return follow_pieces();
  }
  SnapshotBeginning &out() { return out_; }

 private:
  using Places = std::unordered_map<uint64_t, size_t>;  ///< by address and device: of the action, kFreed

  // Addresses have fewer than 56 bits.
  static uint64_t key(uint64_t address, uint8_t device) {
    return address ^ uint64_t { device } << 56;
  }
  template <class T>
  static uint64_t key(const T &one) {
    return key(one.address, one.device);
  }
  void follow(size_t place, Places &places) {
    SnapshotAction &action = data_.actions[place];
    if (action.kind == SnapshotAction::kAlloc) {
      action.bytes = rounded(action);
      places[key(action)] = place;
      return;
    }
    const auto known = places.find(key(action));
    const bool alive = known != places.end() && known->second != kFreed;
    if (alive) {
      known->second = kFreed;
    } else if (known != places.end()) {
      action.kind = SnapshotAction::kNone;  // of a block that was freed before
    } else {
      places.emplace(key(action), kFreed);
      out_.blocks.push_back({action.address, rounded(action), 0, action.device});
    }
  }
  // What lives by the history must be what the segments hold in the end.
  void compare_with_end(const Places &places) {
    std::vector<bool> confirmed(data_.actions.size());
    for (const SnapshotBlock &block : data_.blocks) {
      const auto known = places.find(key(block));
      if (known == places.end()) {
        out_.blocks.push_back(block);
      } else if (known->second == kFreed) {
        append(SnapshotAction::kAlloc, block);
      } else {
        data_.actions[known->second].bytes = block.bytes;
        confirmed[known->second] = true;
      }
    }
    std::vector<SnapshotSegment> segments = data_.segments;
    const auto before = [](const SnapshotSegment &a, const SnapshotSegment &b) {
      return key(a.address, a.device) < key(b.address, b.device);
    };
    std::sort(segments.begin(), segments.end(), before);
    for (size_t place = 0; place < confirmed.size(); ++place) {
      const SnapshotAction action = data_.actions[place];
      const auto alive = places.find(key(action));
      if (action.kind != SnapshotAction::kAlloc || confirmed[place] || alive->second != place) continue;
      const SnapshotSegment wanted{action.address, 0, 0, 0, action.device, false};
      const auto next = std::upper_bound(segments.begin(), segments.end(), wanted, before);
      if (next == segments.begin()) continue;
      const SnapshotSegment &segment = *(next - 1);
      const bool inside = segment.device == action.device && action.address < segment.address + segment.bytes;
      if (inside) append(SnapshotAction::kFreeRequested, {action.address, action.bytes, 0, action.device});
    }
  }
  void append(SnapshotAction::Kind kind, const SnapshotBlock &block) {
    data_.actions.push_back(at_end(kind, block));
    ++out_.unrecorded_blocks;
  }
  SnapshotAction at_end(SnapshotAction::Kind kind, const auto &one) const {
    const uint64_t time = data_.actions.empty() ? 0 : data_.actions.back().time_us;
    return {one.address, one.bytes, 0, time, one.stack, one.device, kind};
  }
  void cut_pieces() {
    const auto add = [&](const auto &part) {
      out_.pieces[part.device].add_border(part.address);
      out_.pieces[part.device].add_border(part.address + part.bytes);
    };
    for (const SnapshotAction &action : data_.actions) {
      if (action.kind == SnapshotAction::kSegmentMap || action.kind == SnapshotAction::kSegmentUnmap) add(action);
    }
    for (const SnapshotSegment &segment : data_.segments) {
      if (segment.expandable) add(segment);
    }
    for (auto &[device, pieces] : out_.pieces) pieces.cut();
  }
  // False: a few ranges that are cut into very many pieces, again and again.
  bool follow_pieces() {
    uint64_t maps = 0;
    const auto see = [&](const auto &part, bool mapped) {
      SegmentPieces &pieces = out_.pieces[part.device];
      const auto [first, end] = pieces.range(part.address, part.bytes);
      maps += end - first;
      for (size_t i = first; i < end && maps <= kMostMaps; ++i) {
        if (!pieces[i].known) pieces[i].before = mapped;
        pieces[i].known = true;
      }
    };
    for (const SnapshotAction &action : data_.actions) {
      // Seen for the first time at an unmap: it was mapped before.
      if (action.kind == SnapshotAction::kSegmentMap) see(action, false);
      if (action.kind == SnapshotAction::kSegmentUnmap) see(action, true);
    }
    for (const SnapshotSegment &segment : data_.segments) {
      if (segment.expandable) see(segment, true);
    }
    return maps <= kMostMaps;
  }

  SnapshotData &data_;
  SnapshotBeginning out_;
};

}  // namespace

Result<SnapshotBeginning> replay_snapshot(SnapshotData &data, const std::string &where) {
  Replay replay(data);
  replay.blocks();
  replay.segments();
  if (!replay.pieces()) return Error{where + " was not opened: its segments are mapped in too many pieces to follow."};
  return std::move(replay.out());
}

}  // namespace gmt::trace
