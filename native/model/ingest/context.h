#pragma once
// One event with all that belongs to it: what every subject of ingest works on.
#include "model/state/state.h"
#include "trace/batch.h"

namespace gmt::model {

class LifetimeLog;

/// nullptr: none came with the event.
inline const gmt_driver_detail *detail_of(const trace::Batch &batch, const trace::Event &event) {
  return event.detail != 0 && event.detail <= batch.details.size() ? &batch.details[event.detail - 1] : nullptr;
}

struct Context {
  State &all;
  ProcessState &process;
  const trace::Batch &batch;
  const trace::Event &event;        ///< of the batch
  const gmt_driver_detail *detail;  ///< nullptr: none came with it
  const gmt_autograd *autograd;     ///< likewise
  LifetimeLog *lifetimes;           ///< nullptr: not needed

  Accounts &accounts() const { return all.accounts; }
};

/// Who makes the event's allocation.
inline uint32_t cell_of(const Context &context, Layer layer, uint8_t device) {
  LineRef line = context.process.lines.find(context.event, context.autograd);
  if (context.detail && context.detail->caller <= UINT16_MAX)
    line.library = static_cast<uint16_t>(context.detail->caller);
  const uint32_t cell = context.accounts().cell(context.process.number, layer, device, context.event.thread, line);
  if (context.accounts().cells()[cell].calls_backward) context.process.lines.set_backward_call(line.stack);
  return cell;
}

/// The event's stack freed what the cell's site allocated.
inline void count_free_stack(const Context &context, uint32_t cell) {
  context.accounts().count_free_stack(context.accounts().site_of(cell),
                                      {context.event.stack, context.process.frame->step, 1});
}

}  // namespace gmt::model
