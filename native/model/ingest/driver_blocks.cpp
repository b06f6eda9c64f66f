#include "model/ingest/driver_blocks.h"

#include "model/ingest/events.h"
#include "model/ingest/lifetimes.h"

namespace gmt::model {
namespace {

/// A segment of the framework ended or came back: the framework does not report that it gave one back.
void count_segment(const Context &context, const Block &block, bool ended) {
  if (!block.segment) return;
  uint64_t &frees = context.accounts().ledger_of(block.cell).segment_frees;
  ended ? ++frees : --frees;
  const auto bytes = static_cast<int64_t>(block.bytes);
  const int64_t before = context.process.devices[block.device].reserved_bytes();
  reserve(context.process, block.device, ended ? before - bytes : before + bytes, context.event.time_ns);
}

}  // namespace

uint32_t find_block(const Context &context, Space space) {
  const AddressTable &table = context.process.table(space);
  const uint8_t device = space == Space::Host ? static_cast<uint8_t>(GMT_DEVICE_NONE) : context.event.device;
  const uint32_t index = table.block_of(context.event.address, device);
  return index != kNone ? index : table.block_of(context.event.address, GMT_DEVICE_NONE);
}

uint32_t begin_block(const Context &context, Space space, uint8_t device, uint32_t cell, bool counted) {
  const trace::Event &event = context.event;
  const uint32_t index = context.all.blocks.take();
  const gmt_driver_detail *detail = context.detail;
  context.all.blocks[index] = {.address = event.address,
                               .bytes = event.bytes,
                               .time_ns = event.time_ns,
                               .stream = detail ? detail->stream : 0,
                               .context = detail ? detail->context : 0,
                               .cell = cell,
                               .references = 1,
                               .mapped = 0,
                               .step = context.process.frame->step,
                               .device = device,
                               .kind = event.kind,
                               .space = space,
                               .counted = counted,
                               .segment = false};
  context.process.table(space).insert({event.address, index, device});
  return index;
}

Block end_block(const Context &context, uint32_t index) {
  const trace::Event &event = context.event;
  const Block block = context.all.blocks[index];
  if (context.lifetimes) context.lifetimes->end(context.process, block, event);
  AddressTable &table = context.process.table(block.space);
  const AddressEntry *entry = table.find(block.address, block.device);
  // A block whose number was given out again is no longer in the table.
  if (entry && entry->block == index) table.erase(entry);
  if (block.counted) {
    context.accounts().remove(
        block.cell, {block.address, block.bytes, block.time_ns, block.step, event.thread, block.device}, event.time_ns);
    if (event.kind >= GMT_FREE && event.stack) count_free_stack(context, block.cell);
  }
  count_segment(context, block, true);
  context.all.blocks.give_back(index);
  return block;
}

void restore_block(const Context &context, const Block &block) {
  AddressTable &table = context.process.table(block.space);
  // Something else lives there by now: then the free had happened after all.
  if (table.find(block.address, block.device)) return;
  const uint32_t index = context.all.blocks.take();
  context.all.blocks[index] = block;
  table.insert({block.address, index, block.device});
  if (context.lifetimes) context.lifetimes->take_back(context.process.number, block.address, block.time_ns);
  if (block.counted)
    context.accounts().restore(block.cell, block.address, block.bytes, block.time_ns, context.event.time_ns);
  count_segment(context, block, false);
}

void count_unmatched(const Context &context, Space space) {
  const bool host = space == Space::Host;
  const uint8_t device = host ? static_cast<uint8_t>(GMT_DEVICE_NONE) : context.event.device;
  ++context.accounts().ledger(context.process.number, host ? Layer::Host : Layer::Driver, device).unmatched_frees;
}

}  // namespace gmt::model
