#include "model/ingest/driver_blocks.h"
#include "model/ingest/events.h"

namespace gmt::model {

void undo_free(const Context &context) {
  const auto kind = static_cast<uint8_t>(context.event.bytes);
  ProcessState &process = context.process;
  UndoRecord record;
  if (!process.undo.take(context.event.address, kind, record)) return;
  if (record.what == UndoRecord::Nothing) {
    const bool host = gmt_is_host(kind);
    const uint8_t device = host ? static_cast<uint8_t>(GMT_DEVICE_NONE) : record.device;
    --context.accounts().ledger(process.number, host ? Layer::Host : Layer::Driver, device).unmatched_frees;
  } else if (record.what == UndoRecord::Reference) {
    uint32_t index = find_block(context, Space::Import);
    if (index == kNone) index = find_block(context, Space::Physical);
    if (index != kNone) ++context.all.blocks[index].references;
  } else if (record.what == UndoRecord::Reservation && record.bytes) {
    process.memory.reserve(record.address, record.bytes);
  }
  if (record.has_first) restore_block(context, record.first);
  for (const Block &block : record.more) restore_block(context, block);
  for (Mapping mapping : record.maps) {
    mapping.block = process.table(Space::Physical).block_of(mapping.handle, GMT_DEVICE_NONE);
    if (mapping.block != kNone && record.what == UndoRecord::Maps) ++context.all.blocks[mapping.block].mapped;
    process.memory.map(mapping);
  }
}

}  // namespace gmt::model
