// What memory looks like at one moment: gaps in the framework's segments, what it is for, who holds most.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "model/model.h"

namespace gmt::model {

Fragmentation Model::fragmentation(uint32_t process, int32_t device) {
  if (!this->process(process)) return {};
  const std::vector<const TensorBlock *> tensors = tensors_on(*this->process(process), device);
  Fragmentation out;
  for (const Segment &segment : framework_segments(process, device, tensors)) {
    const uint64_t bytes = segment.end - segment.begin;
    ++out.segments;
    out.segment_bytes += bytes;
    out.free_bytes += segment.gap_bytes;
    out.largest_free_bytes = std::max(out.largest_free_bytes, segment.largest_gap);
    out.empty_segments += segment.blocks == 0;
    out.partly_used_segments += segment.blocks > 0 && segment.gap_bytes > 0;
  }
  return out;
}

std::vector<CategoryRow> Model::categories(uint32_t process) const {
  const ProcessState *state = this->process(process);
  if (!state) return {};
  std::map<std::pair<uint8_t, uint8_t>, CategorySum> sums = state->names.sums();
  const std::vector<CategorySum> &activations = state->activations.by_device();
  for (size_t device = 0; device < activations.size(); ++device) {
    CategorySum &sum = sums[{static_cast<uint8_t>(device), GMT_CATEGORY_ACTIVATION}];
    sum.bytes += activations[device].bytes;
    sum.count += activations[device].count;
  }
  std::map<uint8_t, CategorySum> unnamed;
  for (const Ledger &ledger : accounts_.ledgers()) {
    if (ledger.process != process || ledger.layer != Layer::Tensor) continue;
    unnamed[ledger.device] = {ledger.live_bytes, ledger.live_count};
  }
  std::vector<CategoryRow> rows;
  for (const auto &[key, sum] : sums) {
    if (sum.count == 0) continue;
    rows.push_back({key.first, key.second, sum});
    unnamed[key.first].bytes -= sum.bytes;
    unnamed[key.first].count -= sum.count;
  }
  for (const auto &[device, sum] : unnamed) {
    if (sum.count > 0) rows.push_back({device, kUnnamed, sum});
  }
  return rows;
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
      CategorySum &sum = out.categories[category_of(context.state, block)];
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
