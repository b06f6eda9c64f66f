
#include <algorithm>
#include <unordered_map>

#include "model/query/pools.h"
#include "model/query/questions.h"

namespace gmt::model {
namespace {

constexpr size_t kSites = 50;
constexpr uint32_t kRecentSteps = 8;  ///< that the running step is compared with

/// Gathers what holds the memory of the device.
class Holders {
 public:
  Holders(const State &state, uint32_t step, MemorySnapshot &out) : state_(state), step_(step), out_(out) {}

  void add(uint32_t cell, uint32_t born, uint64_t bytes, uint8_t category = kUnnamed) {
    const uint32_t site = state_.accounts.site_of(cell);
    SnapshotSite &own = sites_.try_emplace(site, SnapshotSite{site, 0, 0, born, 0, 0, 0, 0}).first->second;
    own.live_bytes += static_cast<int64_t>(bytes);
    ++own.live_count;
    if (category == GMT_CATEGORY_ACTIVATION) own.activation_bytes += static_cast<int64_t>(bytes);
    own.oldest_step = std::min(own.oldest_step, born);
    if (category == GMT_CATEGORY_GRADIENT && born < step_) out_.old_gradient_bytes += static_cast<int64_t>(bytes);
  }

  /// Those that hold most, with what they did in the running step beside what they usually do.
  std::vector<SnapshotSite> biggest() const {
    std::vector<SnapshotSite> sorted;
    for (const auto &[site, own] : sites_) sorted.push_back(own);
    std::ranges::sort(sorted, {}, [](const SnapshotSite &one) { return std::pair(-one.live_bytes, one.site); });
    if (sorted.size() > kSites) sorted.resize(kSites);
    for (SnapshotSite &site : sorted) compare_with_usual(site);
    return sorted;
  }

 private:
  void compare_with_usual(SnapshotSite &site) const {
    const SiteSteps &history = state_.accounts.steps();
    const SiteSum &sum = history.sum(site.site);
    site.grown_bytes = sum.live_bytes - history.bytes_at_end(site.site, step_ - 1);
    if (sum.step == step_) site.step_allocated_bytes = static_cast<double>(sum.step_allocated);
    const uint32_t steps = std::min(step_ - 1, kRecentSteps);
    uint64_t allocated = 0;
    const std::vector<StepBucket> recent{{step_ - steps, step_ - 1}};
    over_axis(history.points(site.site, step_ - 1), recent,
              [&](size_t, const StepPoint &point) { allocated += point.allocated_bytes; });
    if (steps > 0) site.usual_allocated_bytes = static_cast<double>(allocated) / steps;
  }

  const State &state_;
  uint32_t step_;
  MemorySnapshot &out_;
  std::unordered_map<uint32_t, SnapshotSite> sites_;
};

void add_tensors(const ProcessState &process, uint8_t device, Holders &holders, MemorySnapshot &out) {
  process.tensors.each([&](const TensorBlock &block) {
    if (block.device != device) return;
    const uint8_t category = process.category_of(block);
    holders.add(block.cell, block.step, block.bytes, category);
    out.categories[category].add(block.bytes);
  });
}

void add_blocks(const State &state, uint32_t process, Layer layer, uint8_t device, Holders &holders) {
  state.blocks.each([&](uint32_t, const Block &block) {
    const CellInfo &maker = state.accounts.cell_infos()[block.cell];
    const bool here = block.counted && maker.process == process && maker.layer == layer;
    if (here && block.device == device) holders.add(block.cell, block.step, block.bytes);
  });
}

}  // namespace

MemorySnapshot memory_snapshot(const State &state, uint32_t number, Layer failed, uint8_t device) {
  MemorySnapshot out{};
  const ProcessState &process = *state.process(number);
  out.step = process.frame->step;
  out.tensor_bytes = state.accounts.live_bytes(number, Layer::Tensor, device);
  out.driver_bytes = state.accounts.live_bytes(number, Layer::Driver, device);
  const auto known = process.devices.find(device);
  if (known != process.devices.end()) {
    if (known->second.has_reserved()) out.reserved_bytes = known->second.reserved_bytes();
    out.memory = known->second.memory();
    out.traced_bytes = known->second.traced_bytes();
  }
  out.fragmentation = fragmentation(state, number, device_number(device));
  add_pools(state, process, device, out.pools);
  Holders holders(state, out.step, out);
  if (failed == Layer::Tensor || (failed == Layer::Driver && out.tensor_bytes > 0)) {
    add_tensors(process, device, holders, out);
  } else {
    add_blocks(state, number, failed, device, holders);
  }
  out.sites = holders.biggest();
  return out;
}

}  // namespace gmt::model
