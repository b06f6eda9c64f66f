// The driver's events: device memory, handles and maps, imports, bulk frees, frees that are taken back.
#include <algorithm>

#include "model/model.h"

namespace gmt::model {

void Model::take_driver(const Context &context) {
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
      return take_driver_end(context);
  }
}

/// What ends memory, and what only moves addresses.
void Model::take_driver_end(const Context &context) {
  switch (context.event.kind) {
    case GMT_FREE:
    case GMT_GRAPH_FREE:
      return free_driver(context, Space::Device);
    case GMT_ARRAY_FREE:
      return free_driver(context, Space::Array);
    case GMT_HOST_FREE:
    case GMT_HOST_UNREGISTER:
      return free_driver(context, Space::Host);
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
      return context.state.memory.reserve(context.event.address, context.event.bytes);
    case GMT_ADDRESS_FREE:
      return free_reservation(context);
    case GMT_CONTEXT_DESTROY:
    case GMT_DEVICE_RESET:
      return bulk_free(context);
    case GMT_FREE_UNDONE:
      return undo(context);
    default:
      return;  // pools: what is allocated from them is counted, not what they keep
  }
}

namespace {

UndoRecord record_of(const trace::Event &event, UndoRecord::What what) {
  UndoRecord record;
  record.address = event.address;
  record.kind = event.kind;
  record.device = event.device;
  record.what = what;
  return record;
}

}  // namespace

/// The block that a driver call frees. A driver address is unique in its process (unified addressing), and a free
/// carries the device that was current, not always the memory's: any device will do where the named one has none.
uint32_t Model::find_free(const Context &context, Space space, size_t &place) const {
  const uint8_t device = space == Space::Host ? static_cast<uint8_t>(GMT_DEVICE_NONE) : context.event.device;
  const uint32_t index = find(context.state, space, context.event.address, device, place);
  if (index != kNone) return index;
  return find(context.state, space, context.event.address, GMT_DEVICE_NONE, place);
}

void Model::free_driver(const Context &context, Space space) {
  size_t place;
  const uint32_t index = find_free(context, space, place);
  if (index == kNone && space == Space::Device && find_free(context, Space::Import, place) != kNone) {
    return close_import(context);  // cuMemFree also ends a mapped buffer of external memory
  }
  UndoRecord record = record_of(context.event, index == kNone ? UndoRecord::Nothing : UndoRecord::Blocks);
  if (index == kNone) {
    unmatched(context, space);
  } else {
    record.first = close(context.state, index, context.event);
    record.has_first = true;
  }
  context.state.undo.push(std::move(record));
}

/// One reference less; without references and maps the memory is gone.
void Model::drop_reference(const Context &context, uint32_t index, UndoRecord &record) {
  Block &block = blocks_[index];
  if (block.references > 0) --block.references;
  record.what = UndoRecord::Reference;
  if (block.references > 0 || block.mapped > 0) return;
  record.what = UndoRecord::Blocks;
  record.first = close(context.state, index, context.event);
  record.first.references = 1;
  record.has_first = true;
}

void Model::release_handle(const Context &context) {
  size_t place;
  if (find_free(context, Space::Import, place) != kNone) return close_import(context);
  const uint32_t index = find_free(context, Space::Physical, place);
  UndoRecord record = record_of(context.event, UndoRecord::Nothing);
  if (index == kNone || blocks_[index].references == 0) {
    unmatched(context, Space::Physical);
  } else {
    drop_reference(context, index, record);
  }
  context.state.undo.push(std::move(record));
}

void Model::retain_handle(const Context &context) {
  size_t place;
  uint32_t index = find_free(context, Space::Physical, place);
  if (index == kNone) index = find_free(context, Space::Import, place);
  if (index != kNone) ++blocks_[index].references;
}

void Model::import(const Context &context) {
  size_t place;
  const uint32_t known = find_free(context, Space::Import, place);
  if (known != kNone) {
    ++blocks_[known].references;  // opening the same memory again gives the same address
    return;
  }
  const uint8_t device = context.event.device;
  new_block(context, Space::Import, device, cell_of(context, Layer::Driver, device), false);
}

void Model::close_import(const Context &context) {
  size_t place;
  const uint32_t index = find_free(context, Space::Import, place);
  UndoRecord record = record_of(context.event, UndoRecord::Nothing);
  if (index == kNone) {
    unmatched(context, Space::Import);
  } else {
    drop_reference(context, index, record);
  }
  context.state.undo.push(std::move(record));
}

void Model::map(const Context &context) {
  const trace::Event &event = context.event;
  const uint64_t handle = context.detail ? context.detail->object : 0;
  const size_t place = context.state.table(Space::Physical).find(handle, GMT_DEVICE_NONE);
  const uint32_t block = place == AddressTable::kMissing ? kNone : context.state.table(Space::Physical).block_at(place);
  if (block != kNone) ++blocks_[block].mapped;
  const uint64_t offset = context.detail ? context.detail->offset : 0;
  for (const Mapping &old : context.state.memory.map({event.address, event.bytes, handle, offset, block})) {
    if (old.block == kNone) continue;
    ++accounts_.ledger_of(blocks_[old.block].cell).implied_frees;
    Block &physical = blocks_[old.block];
    if (--physical.mapped == 0 && physical.references == 0) {
      close(context.state, old.block, event);
    }
  }
}

void Model::unmap(const Context &context) {
  const trace::Event &event = context.event;
  UndoRecord record = record_of(event, UndoRecord::Maps);
  record.maps = context.state.memory.unmap(event.address, event.bytes);
  if (record.maps.empty()) {
    record.what = UndoRecord::Nothing;
    unmatched(context, Space::Physical);
  }
  for (const Mapping &mapping : record.maps) {
    if (mapping.block == kNone) continue;
    Block &physical = blocks_[mapping.block];
    if (--physical.mapped == 0 && physical.references == 0) {
      record.more.push_back(close(context.state, mapping.block, event));
    }
  }
  context.state.undo.push(std::move(record));
}

void Model::free_reservation(const Context &context) {
  UndoRecord record = record_of(context.event, UndoRecord::Reservation);
  record.bytes = context.state.memory.release(context.event.address);
  context.state.undo.push(std::move(record));
}

bool Model::belongs(const Context &context, const Block &block) const {
  const trace::Event &event = context.event;
  const CellInfo &maker = accounts_.cell_infos()[block.cell];
  if (maker.process != context.process) return false;
  if (event.kind == GMT_CONTEXT_DESTROY) return block.context != 0 && block.context == event.address;
  if (block.device != GMT_DEVICE_NONE) return block.device == event.device;
  const auto known = context.state.context_device.find(block.context);
  return known != context.state.context_device.end() && known->second == event.device;
}

/// Everything of a context or a device ends, maps included.
void Model::bulk_free(const Context &context) {
  std::vector<uint32_t> gone;
  auto &devices = context.state.context_device;
  blocks_.each([&](uint32_t, const Block &block) {
    const bool own = accounts_.cell_infos()[block.cell].process == context.process;
    if (own && block.context && block.device != GMT_DEVICE_NONE) devices[block.context] = block.device;
  });
  blocks_.each([&](uint32_t index, const Block &block) {
    if (belongs(context, block)) gone.push_back(index);
  });
  UndoRecord record = record_of(context.event, UndoRecord::Blocks);
  for (const uint32_t index : gone) {
    context.state.memory.forget(index, record.maps);
    record.more.push_back(close(context.state, index, context.event));
  }
  context.state.undo.push(std::move(record));
}

void Model::undo(const Context &context) {
  const auto kind = static_cast<uint8_t>(context.event.bytes);
  UndoRecord record;
  if (!context.state.undo.take(context.event.address, kind, record)) return;
  const uint64_t now = context.event.time_ns;
  size_t place;
  if (record.what == UndoRecord::Nothing) {
    const bool host = kind == GMT_HOST_FREE || kind == GMT_HOST_UNREGISTER;
    --accounts_.ledger(context.process, host ? Layer::Host : Layer::Driver, host ? GMT_DEVICE_NONE : record.device)
          .unmatched_frees;
  } else if (record.what == UndoRecord::Reference) {
    uint32_t index = find_free(context, Space::Import, place);
    if (index == kNone) index = find_free(context, Space::Physical, place);
    if (index != kNone) ++blocks_[index].references;
  } else if (record.what == UndoRecord::Reservation && record.bytes) {
    context.state.memory.reserve(record.address, record.bytes);
  }
  if (record.has_first) reopen(context.state, record.first, now);
  for (const Block &block : record.more) reopen(context.state, block, now);
  for (Mapping mapping : record.maps) {
    place = context.state.table(Space::Physical).find(mapping.handle, GMT_DEVICE_NONE);
    mapping.block = place == AddressTable::kMissing ? kNone : context.state.table(Space::Physical).block_at(place);
    if (mapping.block != kNone && record.what == UndoRecord::Maps) ++blocks_[mapping.block].mapped;
    context.state.memory.map(mapping);
  }
}

}  // namespace gmt::model
