// What accounts know of steps, apart from what every event runs through.
#include <algorithm>

#include "model/state/accounts.h"

namespace gmt::model {

/// A block of an earlier step ended.
void Accounts::end_block(uint32_t cell, const Ending &ending) {
  if (ending.born_step + 1 < frame_->step) {
    steps_.freed_old(cells_[cell].site, ending.bytes, frame_->step - ending.born_step);
  } else {
    steps_.freed_previous(cells_[cell].site, ending.bytes);
  }
  frame_->end({ending.address, ending.bytes, ending.device, ending.born_step, cell});
}

void Accounts::restore(uint32_t cell, uint64_t address, uint64_t bytes, uint64_t born_ns, uint64_t time_ns) {
  Cell &own = cells_[cell];
  Ledger &ledger = *ledger_at_[own.ledger];
  if (time_ns >> spans_.shift() > own.filled_spans) fill_spans(cell, time_ns);
  raise(own, ledger, static_cast<int64_t>(bytes), born_ns, time_ns);
  steps_.restored(own.site, bytes, frame_->step);
  frame_->take_back(address, cell);
  ++own.live_count;
  --own.frees;
  ++ledger.live_count;
  --ledger.frees;
  ledger.freed_bytes -= bytes;
  if (frame_->finder) frame_->finder->note({time_ns, 0, bytes, cell, StepEntry::Allocation, 0, false});
}

/// The rarest one's count stays, so that what is frequent cannot be pushed out by what comes once.
void Accounts::count_free_stack(uint32_t site, const FreeStack &one) {
  std::vector<FreeStack> &known = sites_[site].free_stacks;
  const auto found = std::ranges::find(known, one.stack, &FreeStack::stack);
  if (found != known.end()) {
    found->count += one.count;
    found->last_step = std::max(found->last_step, one.last_step);
  } else if (known.size() < kFreeStacks) {
    known.push_back(one);
  } else {
    const auto rarest = std::ranges::min_element(known, {}, &FreeStack::count);
    *rarest = {one.stack, one.last_step, rarest->count + one.count};
  }
}

void Accounts::add_segment(uint32_t cell) {
  ++ledger_of(cell).segment_allocations;
  steps_.add_segment(cells_[cell].site);
}

void Accounts::restart_in_first_step(uint32_t process) {
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    if (sites_[site].process != process || sites_[site].merged_into != kNone) continue;
    uint64_t allocations = 0, frees = 0, allocated = 0;
    for (const uint32_t cell : sites_[site].cells) {
      allocations += cells_[cell].allocations;
      frees += cells_[cell].frees;
      allocated += cells_[cell].allocated_bytes;
    }
    steps_.restart_in_first_step(site, allocations, frees, allocated);
  }
  for (Ledger &ledger : ledgers_) {
    if (ledger.process == process) ledger.steps.restart(ledger.peak_bytes, ledger.peak_ns);
  }
}

void Accounts::restart_before(uint32_t process, const std::vector<StepEntry> &entries) {
  std::vector<int64_t> site_bytes(sites_.size()), site_count(sites_.size()), ledger_bytes(ledgers_.size());
  for (const StepEntry &entry : entries) {
    if (entry.kind > StepEntry::Free) continue;
    const int sign = entry.kind == StepEntry::Allocation ? 1 : -1;
    const int64_t bytes = sign * static_cast<int64_t>(entry.bytes);
    const Cell &cell = cells_[entry.cell];
    site_bytes[cell.site] += bytes;
    site_count[cell.site] += sign;
    ledger_bytes[cell.ledger] += bytes;
  }
  for (uint32_t site = 0; site < sites_.size(); ++site) {
    if (sites_[site].process != process || sites_[site].merged_into != kNone) continue;
    const SiteSum &sum = steps_.sum(site);
    steps_.restart(site, sum.live_bytes - site_bytes[site],
                   static_cast<uint32_t>(static_cast<int64_t>(sum.live_count) - site_count[site]));
  }
  for (size_t at = 0; at < ledgers_.size(); ++at) {
    if (ledgers_[at].process != process) continue;
    ledgers_[at].live_bytes -= ledger_bytes[at];
    ledgers_[at].steps.restart(ledgers_[at].live_bytes);
  }
}

/// Only the series hear of it: the totals know already.
void Accounts::replay(const StepEntry &entry, uint32_t born_step) {
  const Cell &cell = cells_[entry.cell];
  Ledger &ledger = *ledger_at_[cell.ledger];
  const auto bytes = static_cast<int64_t>(entry.bytes);
  if (entry.kind == StepEntry::Allocation) {
    ledger.live_bytes += bytes;
    ledger.steps.record(ledger.live_bytes, entry.time_ns);
    return steps_.allocated(cell.site, entry.bytes, frame_->step);
  }
  ledger.live_bytes -= bytes;
  steps_.freed(cell.site, entry.bytes, frame_->step);
  if (entry.mark) steps_.freed_by_collector(cell.site, entry.bytes);
  if (born_step != frame_->step) end_block(entry.cell, {0, entry.bytes, entry.before, born_step, 0, GMT_DEVICE_NONE});
}

void Accounts::end_step(uint32_t process) {
  const uint32_t step = book(process).frame.step;
  for (Ledger &ledger : ledgers_) {
    if (ledger.process == process) ledger.steps.end_step(step, ledger.live_bytes);
  }
}

}  // namespace gmt::model
