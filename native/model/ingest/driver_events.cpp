#include "model/ingest/driver_blocks.h"
#include "model/ingest/events.h"
#include "model/ingest/step_events.h"

namespace gmt::model {
namespace {

/// A segment is one block or, where it is expandable, many that are mapped one behind the other.
void note_newest(const Context &context, Space space, uint32_t index) {
  constexpr size_t kMost = 4096;
  std::vector<uint32_t> &newest = context.process.newest_driver_blocks[context.event.thread];
  if (space == Space::Device || newest.size() == kMost) newest.clear();
  newest.push_back(index);
}

void allocate(const Context &context, Space space, Layer layer, uint8_t device) {
  const trace::Event &event = context.event;
  BlockStore &blocks = context.all.blocks;
  const uint32_t cell = cell_of(context, layer, device);
  begin_round(context, cell);
  AddressTable &table = context.process.table(space);
  const AddressEntry *old = table.find(event.address, device);
  if (old && !(space == Space::Physical && blocks[old->block].references == 0)) {
    ++context.accounts().ledger_of(blocks[old->block].cell).implied_frees;
    end_block(context, old->block);
  } else if (old) {
    // A released handle's number was given out again: the old memory lives on in its maps, without a number.
    table.erase(old);
  }
  const uint32_t index = begin_block(context, space, device, cell, true);
  context.accounts().add(cell, event.bytes, event.time_ns);
  if (space == Space::Device || space == Space::Physical) {
    note_newest(context, space, index);
    context.process.pools.take();
  }
  find_loop_if_due(context);
}

void free_memory(const Context &context, Space space) {
  const uint32_t index = find_block(context, space);
  if (index == kNone && space == Space::Device && find_block(context, Space::Import) != kNone) {
    return close_import(context);  // cuMemFree also ends a mapped buffer of external memory
  }
  UndoRecord record = undo_record(context, index == kNone ? UndoRecord::Nothing : UndoRecord::Blocks);
  if (index == kNone) {
    count_unmatched(context, space);
  } else {
    record.first = end_block(context, index);
    record.has_first = true;
  }
  context.process.undo.push(std::move(record));
}

/// The block is of the context or device that ends.
bool ends_with(const Context &context, const Block &block) {
  const trace::Event &event = context.event;
  if (event.kind == GMT_CONTEXT_DESTROY) return block.context != 0 && block.context == event.address;
  if (block.device != GMT_DEVICE_NONE) return block.device == event.device;
  const auto known = context.process.context_device.find(block.context);
  return known != context.process.context_device.end() && known->second == event.device;
}

/// Everything of a context or a device ends, maps included.
void free_all(const Context &context) {
  std::vector<uint32_t> own, gone;
  context.all.blocks.each([&](uint32_t index, const Block &block) {
    if (context.accounts().cell_infos()[block.cell].process != context.process.number) return;
    own.push_back(index);
    if (block.context && block.device != GMT_DEVICE_NONE) context.process.context_device[block.context] = block.device;
  });
  std::copy_if(own.begin(), own.end(), std::back_inserter(gone),
               [&](uint32_t index) { return ends_with(context, context.all.blocks[index]); });
  UndoRecord record = undo_record(context, UndoRecord::Blocks);
  for (const uint32_t index : gone) {
    context.process.memory.forget(index, record.maps);
    record.more.push_back(end_block(context, index));
  }
  context.process.undo.push(std::move(record));
}

/// What ends memory, and what only moves addresses.
void handle_end(const Context &context) {
  switch (context.event.kind) {
    case GMT_FREE:
    case GMT_GRAPH_FREE:
      return free_memory(context, Space::Device);
    case GMT_ARRAY_FREE:
      return free_memory(context, Space::Array);
    case GMT_HOST_FREE:
    case GMT_HOST_UNREGISTER:
      return free_memory(context, Space::Host);
    case GMT_PHYSICAL_RELEASE:
      return release_handle(context);
    case GMT_PHYSICAL_RETAIN:
      return retain_handle(context);
    case GMT_IMPORT_CLOSE:
      return close_import(context);
    case GMT_MAP:
      return map(context);
    case GMT_UNMAP:
      return unmap(context);
    case GMT_ADDRESS_RESERVE:
      return context.process.memory.reserve(context.event.address, context.event.bytes);
    case GMT_ADDRESS_FREE:
      return free_reservation(context);
    case GMT_CONTEXT_DESTROY:
    case GMT_DEVICE_RESET:
      return free_all(context);
    case GMT_FREE_UNDONE:
      return undo_free(context);
    default:
      return;  // pools: what is allocated from them is counted, not what they keep
  }
}

}  // namespace

void handle_driver_event(const Context &context) {
  if (context.process.waking.active()) context.process.waking.touch(context.event.address, false);
  const uint8_t device = context.event.device;
  switch (context.event.kind) {
    case GMT_DEVICE_ALLOC:
    case GMT_MANAGED_ALLOC:
    case GMT_ASYNC_ALLOC:
    case GMT_GRAPH_ALLOC:
      return allocate(context, Space::Device, Layer::Driver, device);
    case GMT_ARRAY_ALLOC:
      return allocate(context, Space::Array, Layer::Driver, device);
    case GMT_HOST_ALLOC:
    case GMT_HOST_REGISTER:
      return allocate(context, Space::Host, Layer::Host, GMT_DEVICE_NONE);
    case GMT_PHYSICAL_CREATE:
      // cuMemCreate can also place memory on the host; then no device is named.
      return allocate(context, Space::Physical, device == GMT_DEVICE_NONE ? Layer::Host : Layer::Driver, device);
    case GMT_IMPORT:
      return import(context);
    default:
      return handle_end(context);
  }
}

}  // namespace gmt::model
