#pragma once
// Live blocks of the driver's layer: which of them an address means, how one begins, ends and comes back.
#include "model/ingest/context.h"

namespace gmt::model {

/// The block that a driver call means; kNone without one. A driver address is unique in its process (unified addressing), and a
/// free carries the device that was current, not always the memory's: any will do where the named one has none.
uint32_t find_block(const Context &context, Space space);

/// Begins the event's block. `counted`: false for memory that another process owns.
uint32_t begin_block(const Context &context, Space space, uint8_t device, uint32_t cell, bool counted);
/// Takes the block off its table and the accounts; returns what it was.
Block end_block(const Context &context, uint32_t index);
/// Its end did not happen.
void restore_block(const Context &context, const Block &block);

/// The event frees what is not known.
void count_unmatched(const Context &context, Space space);

/// For the free that the event is, should it turn out to have failed.
inline UndoRecord undo_record(const Context &context, UndoRecord::What what) {
  UndoRecord record;
  record.address = context.event.address;
  record.kind = context.event.kind;
  record.device = context.event.device;
  record.what = what;
  return record;
}

}  // namespace gmt::model
