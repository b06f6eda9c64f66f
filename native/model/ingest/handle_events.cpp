#include "model/ingest/driver_blocks.h"
#include "model/ingest/events.h"

namespace gmt::model {
namespace {

/// One reference less; without references and maps the memory is gone.
void drop_reference(const Context &context, uint32_t index, UndoRecord &record) {
  Block &block = context.all.blocks[index];
  if (block.references > 0) --block.references;
  record.what = UndoRecord::Reference;
  if (block.references > 0 || block.mapped > 0) return;
  record.what = UndoRecord::Blocks;
  record.first = end_block(context, index);
  record.first.references = 1;
  record.has_first = true;
}

/// One map less; true where it was the last thing that kept the memory.
bool drop_map(const Context &context, uint32_t index) {
  Block &physical = context.all.blocks[index];
  return --physical.mapped == 0 && physical.references == 0;
}

void release(const Context &context, Space space, uint32_t index) {
  UndoRecord record = undo_record(context, UndoRecord::Nothing);
  index == kNone ? count_unmatched(context, space) : drop_reference(context, index, record);
  context.process.undo.push(std::move(record));
}

}  // namespace

void release_handle(const Context &context) {
  if (find_block(context, Space::Import) != kNone) return close_import(context);
  const uint32_t index = find_block(context, Space::Physical);
  const bool held = index != kNone && context.all.blocks[index].references > 0;
  release(context, Space::Physical, held ? index : kNone);
}

void retain_handle(const Context &context) {
  uint32_t index = find_block(context, Space::Physical);
  if (index == kNone) index = find_block(context, Space::Import);
  if (index != kNone) ++context.all.blocks[index].references;
}

void import(const Context &context) {
  const uint32_t known = find_block(context, Space::Import);
  if (known != kNone) {
    ++context.all.blocks[known].references;  // opening the same memory again gives the same address
    return;
  }
  const uint8_t device = context.event.device;
  begin_block(context, Space::Import, device, cell_of(context, Layer::Driver, device), false);
}

void close_import(const Context &context) { release(context, Space::Import, find_block(context, Space::Import)); }

void map(const Context &context) {
  const trace::Event &event = context.event;
  const uint64_t handle = context.detail ? context.detail->object : 0;
  const uint32_t block = context.process.table(Space::Physical).block_of(handle, GMT_DEVICE_NONE);
  if (block != kNone) ++context.all.blocks[block].mapped;
  const uint64_t offset = context.detail ? context.detail->offset : 0;
  for (const Mapping &old : context.process.memory.map({event.address, event.bytes, handle, offset, block})) {
    if (old.block == kNone) continue;
    ++context.accounts().ledger_of(context.all.blocks[old.block].cell).implied_frees;
    if (drop_map(context, old.block)) end_block(context, old.block);
  }
}

void unmap(const Context &context) {
  const trace::Event &event = context.event;
  UndoRecord record = undo_record(context, UndoRecord::Maps);
  record.maps = context.process.memory.unmap(event.address, event.bytes);
  if (record.maps.empty()) {
    record.what = UndoRecord::Nothing;
    count_unmatched(context, Space::Physical);
  }
  for (const Mapping &mapping : record.maps) {
    if (mapping.block == kNone || !drop_map(context, mapping.block)) continue;
    record.more.push_back(end_block(context, mapping.block));
  }
  context.process.undo.push(std::move(record));
}

void free_reservation(const Context &context) {
  UndoRecord record = undo_record(context, UndoRecord::Reservation);
  record.bytes = context.process.memory.release(context.event.address);
  context.process.undo.push(std::move(record));
}

}  // namespace gmt::model
