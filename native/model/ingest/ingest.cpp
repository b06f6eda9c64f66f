// Events in, one after another: pairing and the tensor layer.
#include <algorithm>

#include "model/ingest/look_ahead.h"
#include "model/model.h"

namespace gmt::model {
namespace {

constexpr int32_t kCudaOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY (cuda.h)

bool ran_out_of_memory(uint8_t kind, const gmt_driver_detail *detail) {
  return kind == GMT_TENSOR_OOM || (kind & GMT_FAILED && detail && detail->result == kCudaOutOfMemory);
}

const gmt_driver_detail *detail_of(const trace::Batch &batch, const trace::Event &event) {
  return event.detail != 0 && event.detail <= batch.details.size() ? &batch.details[event.detail - 1] : nullptr;
}

bool is_tensor(uint8_t kind) { return kind < 16; }
bool is_mark(uint8_t kind) { return kind >= 64; }

Layer layer_of(uint8_t kind) {
  if (is_tensor(kind)) return Layer::Tensor;
  const bool host =
      kind == GMT_HOST_ALLOC || kind == GMT_HOST_REGISTER || kind == GMT_HOST_FREE || kind == GMT_HOST_UNREGISTER;
  return host ? Layer::Host : Layer::Driver;
}

void begin_interval(std::vector<Interval> &list, uint64_t time_ns, uint32_t step, uint64_t &beyond) {
  if (!list.empty() && list.back().end_ns == ~0ull) return;
  if (list.size() == Model::kIntervals) {
    ++beyond;
    return;
  }
  list.push_back({time_ns, ~0ull, step, 0});
}

void end_interval(std::vector<Interval> &list, uint64_t time_ns, uint32_t step) {
  if (list.empty() || list.back().end_ns != ~0ull) return;
  list.back().end_ns = time_ns;
  list.back().end_step = step;
}

}  // namespace

void Model::ingest(const trace::Batch &batch) {
  ProcessState &state = state_of(batch.process);
  accounts_.enter(batch.process);
  state.records.add(batch.records);
  state.set_next_look();
  for (const trace::Node &node : batch.nodes) state.lines.see_node(node);
  const size_t count = batch.events.size();
  batch_ = &batch;
  auto node = batch.nodes.begin();
  LookAhead ahead(state.tensors, accounts_);
  for (size_t i = 0; i < count; ++i) {
    if (state.ending) {
      state.events_after_ending += count - i;
      state.next_sequence = batch.events.back().sequence + 1;  // what was said of the end is still heard
      break;
    }
    for (; node != batch.nodes.end() && node->place <= i; ++node) state.lines.node_was_made(*node);
    ahead.look(batch, i, state.frame->step);
    const trace::Event &event = batch.events[i];
    const bool usual = event.sequence == state.next_sequence && event.sequence <= state.records.next() &&
                       event.time_ns < state.next_look_ns;
    if (!usual) attend(batch.process, state, event);
    state.next_sequence = event.sequence + 1;
    const bool has_autograd = event.autograd != 0 && event.autograd <= batch.autograds.size();
    take({batch.process, state, event, detail_of(batch, event),
          has_autograd ? &batch.autograds[event.autograd - 1] : nullptr});
    if (event.time_ns > now_ns_) now_ns_ = event.time_ns;
  }
  for (; node != batch.nodes.end(); ++node) state.lines.node_was_made(*node);
  apply_records(batch.process, state, state.next_sequence);
  accounts_.see_time(now_ns_);
  events_ += count;
  ++revision_;
}

void Model::take(const Context &context) {
  const uint8_t kind = context.event.kind;
  if (kind == GMT_TENSOR_ALLOC) return allocate_tensor(context);
  if (kind == GMT_TENSOR_FREE) return free_tensor(context);
  if (kind & GMT_FAILED || kind == GMT_TENSOR_OOM) return take_failure(context);
  if (kind == GMT_RESERVED) return set_reserved(context);
  if (is_mark(kind)) return take_mark(context);
  take_driver(context);
}

void Model::take_mark(const Context &context) {
  ProcessState &state = context.state;
  const uint64_t now = context.event.time_ns;
  const uint32_t step = state.frame->step;
  switch (context.event.kind) {
    case GMT_RECORDING_STOP:
      state.recording = false;
      last_flag(state, kStepPaused, true, now);
      return begin_interval(state.pauses, now, step, state.uncounted_intervals);
    case GMT_RECORDING_START:
      state.recording = true;
      last_flag(state, kStepPaused, false, now);
      return end_interval(state.pauses, now, step);
    case GMT_GAP_BEGIN:
      last_flag(state, kStepDriverGap, true, now);
      return begin_interval(state.gaps, now, step, state.uncounted_intervals);
    case GMT_GAP_END:
      last_flag(state, kStepDriverGap, false, now);
      return end_interval(state.gaps, now, step);
    case GMT_STEP:
      return take_step(context);
    case GMT_GC_BEGIN:
    case GMT_GC_END:
      return take_collection(context);
    case GMT_PROCESS_ENDING:
      state.ending = true;
      return;
    default:
      return;
  }
}

void Model::take_failure(const Context &context) {
  const auto kind = static_cast<uint8_t>(context.event.kind & ~GMT_FAILED);
  const Layer layer = layer_of(kind);
  const uint8_t device = layer == Layer::Host ? GMT_DEVICE_NONE : context.event.device;
  ++accounts_.ledger(context.process, layer, device).failed;
  if (ran_out_of_memory(context.event.kind, context.detail)) list_out_of_memory(context, layer);
}

void Model::list_out_of_memory(const Context &context, Layer layer) {
  const uint8_t device = layer == Layer::Host ? GMT_DEVICE_NONE : context.event.device;
  const uint32_t cell = cell_of(context, layer, device);
  out_of_memory_.push_back({context.process, device_number(device), layer, context.event.bytes, context.event.time_ns,
                            accounts_.cells()[cell].site, accounts_.ledger_of(cell).live_bytes, context.event.thread,
                            nullptr});
  // Looking at all live blocks takes long: of failures that come together the last one stands for all.
  if (++out_of_memory_count_ <= kFirstSnapshots || !is_followed_by_failure(context.event)) {
    out_of_memory_.back().snapshot = std::make_shared<MemorySnapshot>(snapshot(context, layer, device));
    drop_older_snapshots();
  }
  if (out_of_memory_.size() > kOutOfMemory)
    out_of_memory_.erase(out_of_memory_.begin() + static_cast<std::ptrdiff_t>(kFirstSnapshots));
}

/// In the batch that is being taken.
bool Model::is_followed_by_failure(const trace::Event &event) const {
  const auto fails = [&](const trace::Event &one) { return ran_out_of_memory(one.kind, detail_of(*batch_, one)); };
  return std::any_of(&event + 1, batch_->events.data() + batch_->events.size(), fails);
}

/// Only the first and the newest keep theirs.
void Model::drop_older_snapshots() {
  size_t kept = 0;
  for (size_t i = out_of_memory_.size(); i-- > kFirstSnapshots;) {
    if (!out_of_memory_[i].snapshot || ++kept <= kSnapshots - kFirstSnapshots) continue;
    return out_of_memory_[i].snapshot.reset();
  }
}

uint32_t Model::cell_of(const Context &context, Layer layer, uint8_t device) {
  LineRef line = context.state.lines.find(context.event, context.autograd);
  if (context.detail && context.detail->caller <= UINT16_MAX)
    line.library = static_cast<uint16_t>(context.detail->caller);
  const uint32_t cell = accounts_.cell(context.process, layer, device, context.event.thread, line);
  if (accounts_.cells()[cell].calls_backward) context.state.lines.see_backward_call(line.stack);
  return cell;
}

uint32_t Model::find(ProcessState &state, Space space, uint64_t address, uint8_t device, size_t &place) const {
  place = state.table(space).find(address, device);
  return place == AddressTable::kMissing ? kNone : state.table(space).block_at(place);
}

/// Enters the event's memory into its table.
uint32_t Model::new_block(const Context &context, Space space, uint8_t device, uint32_t cell, bool counted) {
  const trace::Event &event = context.event;
  const uint32_t index = blocks_.take();
  const gmt_driver_detail *detail = context.detail;
  blocks_[index] = {event.address,
                    event.bytes,
                    event.time_ns,
                    detail ? detail->stream : 0,
                    detail ? detail->context : 0,
                    cell,
                    1,
                    0,
                    context.state.frame->step,
                    device,
                    event.kind,
                    space,
                    counted,
                    false};
  context.state.table(space).insert(event.address, device, index);
  return index;
}

void Model::allocate(const Context &context, Space space, Layer layer, uint8_t device) {
  const trace::Event &event = context.event;
  const uint32_t cell = cell_of(context, layer, device);
  begin_round(context, cell);
  size_t place;
  const uint32_t old = find(context.state, space, event.address, device, place);
  if (old != kNone && !(space == Space::Physical && blocks_[old].references == 0)) {
    ++accounts_.ledger_of(blocks_[old].cell).implied_frees;
    close(context.state, old, event);
  } else if (old != kNone) {
    // A released handle's number was given out again: the old memory lives on in its maps, without a number.
    context.state.table(space).erase(place);
  }
  const uint32_t index = new_block(context, space, device, cell, true);
  accounts_.add(cell, event.bytes, event.time_ns);
  context.state.habits.see(event.thread, layer, event.bytes, event.time_ns, cell);
  if (space == Space::Device) context.state.newest_driver_block[event.thread] = index;
  if (context.state.frame->finder && context.state.frame->finder->due()) look_for_loop(context.process, context.state);
}

void Model::allocate_tensor(const Context &context) {
  const trace::Event &event = context.event;
  ProcessState &state = context.state;
  const uint32_t cell = cell_of(context, Layer::Tensor, event.device);
  begin_round(context, cell);
  TensorTable &table = state.tensors;
  if (const TensorBlock *old = table.find(event.address, event.device)) {
    ++accounts_.ledger_of(old->cell).implied_frees;
    end_tensor(state, *old, event);
  }
  const bool activation = state.lines.in_graph(event);
  if (activation) state.activations.add(event.device, event.bytes);
  table.insert({event.address, event.bytes, event.device, true, false, activation, false, event.time_ns, cell,
                state.frame->step});
  accounts_.add(cell, event.bytes, event.time_ns);
  state.habits.see(event.thread, Layer::Tensor, event.bytes, event.time_ns, cell);
  if (state.frame->finder && state.frame->finder->due()) look_for_loop(context.process, state);
}

void Model::free_tensor(const Context &context) {
  const trace::Event &event = context.event;
  const TensorBlock *block = context.state.tensors.find(event.address, event.device);
  if (!block) {
    ++accounts_.ledger(context.process, Layer::Tensor, event.device).unmatched_frees;
    return;
  }
  end_tensor(context.state, *block, event);
}

void Model::end_tensor(ProcessState &state, const TensorBlock &block, const trace::Event &event) {
  const auto device = static_cast<uint8_t>(block.device);
  accounts_.remove(block.cell, {block.address, block.bytes, block.time_ns, block.step, event.thread, device},
                   event.time_ns);
  if (event.kind == GMT_TENSOR_FREE && event.stack) note_free(state, block.cell, event.stack);
  if (lifetimes_) [[unlikely]]
    log_end(state, block, event);
  if (block.named) {
    state.names.forget(block.address, device);
  } else if (block.activation) {
    state.activations.remove(device, block.bytes);
  }
  if (block.detailed) state.details.forget(block.address, device);
  state.tensors.erase(&block);
}

void Model::note_free(ProcessState &state, uint32_t cell, uint32_t stack) {
  accounts_.note_free(accounts_.cells()[cell].site, {stack, state.frame->step, 1});
}

void Model::unmatched(const Context &context, Space space) {
  const Layer layer = space == Space::Host ? Layer::Host : Layer::Driver;
  const uint8_t device = space == Space::Host ? GMT_DEVICE_NONE : context.event.device;
  ++accounts_.ledger(context.process, layer, device).unmatched_frees;
}

/// The framework's allocator holds more than before: what its thread got from the driver last is a segment of its.
void Model::set_reserved(const Context &context) {
  const trace::Event &event = context.event;
  const auto bytes = static_cast<int64_t>(event.bytes);
  const int64_t grown = bytes - context.state.devices[event.device].reserved_bytes();
  const auto newest = context.state.newest_driver_block.find(event.thread);
  if (grown > 0 && newest != context.state.newest_driver_block.end()) {
    Block &block = blocks_[newest->second];
    const bool fits = block.kind != 0 && block.device == event.device && static_cast<int64_t>(block.bytes) == grown;
    if (fits && !block.segment) {
      block.segment = true;
      accounts_.add_segment(block.cell);
    }
  }
  reserve(context.state, event.device, bytes, event.time_ns);
}

void Model::reserve(ProcessState &state, uint8_t device, int64_t bytes, uint64_t time_ns) {
  DeviceMemory &memory = state.devices[device];
  if (state.frame->finder) {
    state.frame->finder->note({time_ns, static_cast<uint64_t>(memory.reserved_bytes()), static_cast<uint64_t>(bytes), 0,
                               StepEntry::Reserved, device, memory.knows_reserved()});
  }
  memory.set_reserved(time_ns, bytes);
}

Block Model::close(ProcessState &state, uint32_t index, const trace::Event &event) {
  const Block block = blocks_[index];
  if (lifetimes_) log_end(state, block, event);
  AddressTable &table = state.table(block.space);
  const size_t place = table.find(block.address, block.device);
  // A block whose number was given out again is no longer in the table.
  if (place != AddressTable::kMissing && table.block_at(place) == index) table.erase(place);
  if (block.counted) {
    accounts_.remove(block.cell, {block.address, block.bytes, block.time_ns, block.step, event.thread, block.device},
                     event.time_ns);
    if (event.kind >= GMT_FREE && event.stack) note_free(state, block.cell, event.stack);
  }
  if (block.segment) {  // the framework does not report that it gave a segment back
    ++accounts_.ledger_of(block.cell).segment_frees;
    reserve(state, block.device, state.devices[block.device].reserved_bytes() - static_cast<int64_t>(block.bytes),
            event.time_ns);
  }
  blocks_.give_back(index);
  return block;
}

void Model::reopen(ProcessState &state, const Block &block, uint64_t time_ns) {
  AddressTable &table = state.table(block.space);
  // Something else lives there by now: then the free had happened after all.
  if (table.find(block.address, block.device) != AddressTable::kMissing) return;
  const uint32_t index = blocks_.take();
  blocks_[index] = block;
  table.insert(block.address, block.device, index);
  if (lifetimes_) lifetimes_->take_back(accounts_.cell_infos()[block.cell].process, block.address, block.time_ns);
  if (block.counted) accounts_.restore(block.cell, block.address, block.bytes, time_ns);
  if (block.segment) {
    --accounts_.ledger_of(block.cell).segment_frees;
    reserve(state, block.device, state.devices[block.device].reserved_bytes() + static_cast<int64_t>(block.bytes),
            time_ns);
  }
}

}  // namespace gmt::model
