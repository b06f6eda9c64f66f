// What memory looks like at one moment: gaps in the framework's segments, who holds most.
#include <algorithm>
#include <unordered_map>

#include "model/model.h"

namespace gmt::model {
namespace {

struct Range {
  uint64_t begin;
  uint64_t end;
  bool operator<(const Range &other) const { return begin < other.begin; }
};

/// Ranges that touch become one.
std::vector<Range> joined(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<Range> out;
  for (const Range &range : ranges) {
    if (!out.empty() && range.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, range.end);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

/// Adds what lies between the blocks of one segment.
void add_segment(const Range &segment, std::vector<Range>::const_iterator block, std::vector<Range>::const_iterator end,
                 Fragmentation &out) {
  uint64_t at = segment.begin, free = 0, used = 0;
  const auto gap = [&](uint64_t to) {
    if (to <= at) return;
    free += to - at;
    out.largest_free_bytes = std::max(out.largest_free_bytes, to - at);
  };
  for (; block != end && block->begin < segment.end; ++block) {
    gap(block->begin);
    at = std::max(at, std::min(block->end, segment.end));
    ++used;
  }
  gap(segment.end);
  ++out.segments;
  out.segment_bytes += segment.end - segment.begin;
  out.free_bytes += free;
  out.empty_segments += used == 0;
  out.partly_used_segments += used > 0 && free > 0;
}

}  // namespace

/// Segments are what the caching allocator got from the driver in one piece; memory that it maps piece by piece counts
/// where tensors lie in it, since others map memory too.
Fragmentation Model::fragmentation(uint32_t process, int32_t device) {
  if (!this->process(process)) return {};
  const ProcessState &state = *this->process(process);
  std::vector<Range> tensors, segments, maps;
  state.tensors.each([&](const TensorBlock &block) {
    const bool here = device_number(static_cast<uint8_t>(block.device)) == device;
    if (here && block.bytes > 0) tensors.push_back({block.address, block.address + block.bytes});
  });
  std::sort(tensors.begin(), tensors.end());
  blocks_.each([&](uint32_t, const Block &block) {
    const bool own = block.segment && accounts_.cell_infos()[block.cell].process == process;
    if (own && device_number(block.device) == device) segments.push_back({block.address, block.address + block.bytes});
  });
  state.memory.each_map([&](const Mapping &mapping) {
    const bool here = mapping.block != kNone && device_number(blocks_[mapping.block].device) == device;
    if (here) maps.push_back({mapping.address, mapping.address + mapping.bytes});
  });
  Fragmentation out;
  const auto add = [&](const Range &segment, bool also_empty) {
    const auto first = std::lower_bound(tensors.cbegin(), tensors.cend(), Range{segment.begin, 0});
    const bool used = first != tensors.cend() && first->begin < segment.end;
    if (used || also_empty) add_segment(segment, first, tensors.cend(), out);
  };
  std::sort(segments.begin(), segments.end());
  for (const Range &segment : segments) add(segment, true);
  for (const Range &region : joined(std::move(maps))) add(region, false);
  return out;
}

/// The sites of a process with a block on the device, with what of them is there.
std::vector<SnapshotSite> Model::snapshot_sites(const Context &context, Layer layer, uint8_t device,
                                                MemorySnapshot &out) {
  const uint32_t step = context.state.frame->step;
  std::unordered_map<uint32_t, SnapshotSite> sites;
  const auto see = [&](uint32_t cell, uint32_t born, uint64_t bytes) {
    const uint32_t site = accounts_.cells()[cell].site;
    SnapshotSite &own = sites.try_emplace(site, SnapshotSite{site, 0, 0, born, 0, 0, 0}).first->second;
    own.live_bytes += static_cast<int64_t>(bytes);
    ++own.live_count;
    own.oldest_step = std::min(own.oldest_step, born);
    const uint32_t age = step - born;
    (age == 0              ? out.this_step_bytes
     : age <= kRecentSteps ? out.recent_bytes
                           : out.older_bytes) += static_cast<int64_t>(bytes);
  };
  if (layer == Layer::Tensor) {
    context.state.tensors.each([&](const TensorBlock &block) {
      if (block.device != device) return;
      see(block.cell, block.step, block.bytes);
      const auto *entry = block.named ? context.state.names.find(block.address, device) : nullptr;
      CategorySum &sum = out.categories[entry ? entry->category : kUnnamed];
      sum.bytes += static_cast<int64_t>(block.bytes);
      ++sum.count;
    });
  } else {
    blocks_.each([&](uint32_t, const Block &block) {
      const CellInfo &maker = accounts_.cell_infos()[block.cell];
      const bool here = block.counted && maker.process == context.process && maker.layer == layer;
      if (here && block.device == device) see(block.cell, block.step, block.bytes);
    });
  }
  std::vector<SnapshotSite> sorted;
  for (const auto &[site, own] : sites) sorted.push_back(own);
  std::sort(sorted.begin(), sorted.end(), [](const SnapshotSite &a, const SnapshotSite &b) {
    return a.live_bytes != b.live_bytes ? a.live_bytes > b.live_bytes : a.site < b.site;
  });
  if (sorted.size() > kSnapshotSites) sorted.resize(kSnapshotSites);
  return sorted;
}

/// What the site did in the running step beside what it usually does.
void Model::compare_with_usual(SnapshotSite &site, uint32_t step) const {
  const SiteSum &sum = accounts_.steps().sum(site.site);
  site.grown_bytes = sum.live_bytes - accounts_.steps().bytes_at_end(site.site, step - 1);
  if (sum.step == step) site.step_allocated_bytes = static_cast<double>(sum.step_allocated);
  const uint32_t steps = std::min(step - 1, kRecentSteps);
  uint64_t allocated = 0;
  const std::vector<StepBucket> recent{{step - steps, step - 1}};
  over_axis(accounts_.steps().points(site.site, step - 1), recent,
            [&](size_t, const StepPoint &point) { allocated += point.allocated_bytes; });
  if (steps > 0) site.usual_allocated_bytes = static_cast<double>(allocated) / steps;
}

MemorySnapshot Model::snapshot(const Context &context, Layer failed, uint8_t device) {
  MemorySnapshot out{};
  const ProcessState &state = context.state;
  out.step = state.frame->step;
  for (const Ledger &ledger : accounts_.ledgers()) {
    if (ledger.process != context.process || ledger.device != device) continue;
    if (ledger.layer == Layer::Tensor) out.tensor_bytes = ledger.live_bytes;
    if (ledger.layer == Layer::Driver) out.driver_bytes = ledger.live_bytes;
  }
  const auto known = state.devices.find(device);
  if (known != state.devices.end()) {
    if (known->second.knows_reserved()) out.reserved_bytes = known->second.reserved_bytes();
    out.memory = known->second.memory();
  }
  out.fragmentation = fragmentation(context.process, device_number(device));
  const Layer layer = failed != Layer::Host && out.tensor_bytes > 0 ? Layer::Tensor : failed;
  out.sites = snapshot_sites(context, layer, device, out);
  for (SnapshotSite &site : out.sites) compare_with_usual(site, out.step);
  return out;
}

}  // namespace gmt::model
