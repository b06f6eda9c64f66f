#pragma once
// Memory is slower than the work on an event. What later tensor events will touch is asked for in steps, kStep events
// apart: the place in the table and the cell's key, then the cell, then the site and what its first event of a step needs.
#include <array>

#include "model/accounts.h"
#include "model/tensor_table.h"
#include "trace/batch.h"

namespace gmt::model {

/// For one batch.
class LookAhead {
 public:
  LookAhead(const TensorTable &table, const Accounts &accounts) : table_(table), accounts_(accounts) {
    coming_.fill(kNone);
    near_.fill(kNone);
  }

  /// Event `at` is about to be taken.
  void look(const trace::Batch &batch, size_t at) {
    const auto &events = batch.events;
    if (at + 3 * kStep < events.size()) ask_for_place(batch.process, events[at + 3 * kStep]);
    uint32_t &slot = coming_[at % kStep];
    // What was found kStep calls ago belongs to the event that is kStep away now.
    if (slot != kNone) accounts_.prefetch_site(slot);
    uint32_t &near = near_[at % kNear];
    if (near != kNone) accounts_.prefetch_history(near);
    near = slot;
    slot = at + 2 * kStep < events.size() ? find_cell(batch.process, events[at + 2 * kStep]) : kNone;
    if (slot != kNone) accounts_.prefetch_cell(slot);
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
  uint32_t find_cell(uint32_t process, const trace::Event &event) const {
    if (event.kind == GMT_TENSOR_FREE) return table_.guess_cell(event.address);
    if (event.kind != GMT_TENSOR_ALLOC) return kNone;
    return accounts_.guess_cell(process, Layer::Tensor, event.device, event.thread, own_line(event));
  }

  const TensorTable &table_;
  const Accounts &accounts_;
  std::array<uint32_t, kStep> coming_;
  std::array<uint32_t, kNear> near_;
};

}  // namespace gmt::model
