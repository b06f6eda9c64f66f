#pragma once
// Memory is slower than the work on an event. What later tensor events will touch is asked for in steps, kStep events
// apart: the place in the table and the cell's key, then the cell, then the site and what its first event of a step needs.
#include <array>

#include "model/state/accounts.h"
#include "model/state/tensor_table.h"
#include "trace/batch.h"

namespace gmt::model {

/// For one batch.
class Prefetch {
 public:
  Prefetch(const TensorTable &table, const Accounts &accounts) : table_(table), accounts_(accounts) {}

  /// Event `at` comes next; `step` runs.
  void before_event(const trace::Batch &batch, size_t at, uint32_t step) {
    const auto &events = batch.events;
    if (at + 3 * kStep < events.size()) ask_for_place(batch.process, events[at + 3 * kStep]);
    Coming &slot = coming_[at % kStep];
    // What was found kStep calls ago belongs to the event that is kStep away now.
    if (slot.cell != kNone) accounts_.prefetch_site(slot.cell);
    Coming &near = near_[at % kNear];
    if (near.cell != kNone) accounts_.prefetch_history(near.cell, near.old);
    near = slot;
    slot = at + 2 * kStep < events.size() ? find(batch.process, events[at + 2 * kStep], step) : Coming{};
    if (slot.cell != kNone) accounts_.prefetch_cell(slot.cell);
  }

 private:
  static constexpr size_t kStep = 8;
  static constexpr size_t kNear = 4;  ///< calls between a site and its history

  static LineRef own_line(const trace::Event &event) {
    return {event.stack, event.stack ? LineSource::Python : LineSource::None};
  }
  void ask_for_place(uint32_t process, const trace::Event &event) const {
    if (event.kind > GMT_TENSOR_FREE) return;
    table_.prefetch(event.address);
    if (event.kind != GMT_TENSOR_ALLOC) return;
    accounts_.prefetch_key(process, Layer::Tensor, event.device, event.thread, own_line(event));
  }
  struct Coming {
    uint32_t cell = kNone;
    bool old = false;  ///< the block was there before the last step
  };
  Coming find(uint32_t process, const trace::Event &event, uint32_t step) const {
    if (event.kind == GMT_TENSOR_FREE) {
      const TensorBlock *block = table_.guess(event.address);
      return block ? Coming{block->cell, block->step + 1 < step} : Coming{};
    }
    if (event.kind != GMT_TENSOR_ALLOC) return {};
    return {accounts_.guess_cell(process, Layer::Tensor, event.device, event.thread, own_line(event)), false};
  }

  const TensorTable &table_;
  const Accounts &accounts_;
  std::array<Coming, kStep> coming_{};
  std::array<Coming, kNear> near_{};
};

}  // namespace gmt::model
