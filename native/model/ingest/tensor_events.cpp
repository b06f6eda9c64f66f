#include <algorithm>

#include "model/ingest/events.h"
#include "model/ingest/lifetimes.h"
#include "model/ingest/step_events.h"

namespace gmt::model {
namespace {

void end_tensor(const Context &context, const TensorBlock &block) {
  const trace::Event &event = context.event;
  ProcessState &process = context.process;
  const auto device = static_cast<uint8_t>(block.device);
  context.accounts().remove(block.cell, {block.address, block.bytes, block.time_ns, block.step, event.thread, device},
                            event.time_ns);
  if (event.kind == GMT_TENSOR_FREE && event.stack) count_free_stack(context, block.cell);
  if (context.lifetimes) [[unlikely]]
    context.lifetimes->end(process, block, event);
  if (block.named) {
    process.names.forget(block.address, device);
  } else if (block.activation) {
    process.activations.remove(device, block.bytes);
  }
  if (block.detailed) process.details.forget(block.address, device);
  process.tensors.erase(&block);
}

/// Of the sum that stands for what was there before the tracer came, a free of an allocation that was never seen is a part.
void lower_earlier(const Context &context) {
  const trace::Event &event = context.event;
  TensorTable &table = context.process.tensors;
  TensorBlock *sum = table.find(GMT_EARLIER_ADDRESS, event.device);
  if (!sum) return;
  TensorBlock rest = *sum;
  sum->bytes = std::min<uint64_t>(event.bytes, rest.bytes);
  rest.bytes -= sum->bytes;
  end_tensor(context, *sum);
  if (rest.bytes == 0) return;
  table.insert(rest);
  context.accounts().restore(rest.cell, rest.address, 0, rest.time_ns, event.time_ns);
}

}  // namespace

void allocate_tensor(const Context &context) {
  const trace::Event &event = context.event;
  ProcessState &process = context.process;
  if (process.waking.active()) [[unlikely]]
    process.waking.touch(event.address, true);
  const uint32_t cell = cell_of(context, Layer::Tensor, event.device);
  begin_round(context, cell);
  TensorTable &table = process.tensors;
  if (const TensorBlock *old = table.find(event.address, event.device)) {
    ++context.accounts().ledger_of(old->cell).implied_frees;
    end_tensor(context, *old);
  }
  const bool activation = process.lines.in_graph(event);
  if (activation) process.activations.add(event.device, event.bytes);
  const auto pass = static_cast<Pass>(context.accounts().cells()[cell].pass);
  process.passes.record(process.lines.is_engine(event.thread) ? Pass::Backward : pass, process.lines.nodes(),
                        activation, event.time_ns);
  table.insert({event.address, event.bytes, event.device, true, false, activation, false, event.time_ns, cell,
                process.frame->step});
  context.accounts().add(cell, event.bytes, event.time_ns);
  find_loop_if_due(context);
}

void free_tensor(const Context &context) {
  const trace::Event &event = context.event;
  if (context.process.waking.active()) [[unlikely]]
    context.process.waking.touch(event.address, true);
  const TensorBlock *block = context.process.tensors.find(event.address, event.device);
  if (!block) {
    ++context.accounts().ledger(context.process.number, Layer::Tensor, event.device).unmatched_frees;
    lower_earlier(context);
    return;
  }
  end_tensor(context, *block);
}

/// Where it grew, what its thread got from the driver last is a segment of its, if it is as big.
void find_segment(const Context &context, int64_t grown) {
  const auto newest = context.process.newest_driver_blocks.find(context.event.thread);
  if (newest == context.process.newest_driver_blocks.end()) return;
  std::vector<uint32_t> &blocks = newest->second;
  size_t first = blocks.size();
  for (; first > 0 && grown > 0; --first) {
    const Block &block = context.all.blocks[blocks[first - 1]];
    if (block.kind == 0 || block.device != context.event.device) break;
    grown -= static_cast<int64_t>(block.bytes);
  }
  for (; grown == 0 && first < blocks.size(); ++first) {
    Block &block = context.all.blocks[blocks[first]];
    if (std::exchange(block.segment, true)) continue;
    context.accounts().add_segment(block.cell);
  }
  blocks.clear();
}

void set_reserved(const Context &context) {
  const trace::Event &event = context.event;
  const auto bytes = static_cast<int64_t>(event.bytes);
  const int64_t grown = bytes - context.process.devices[event.device].reserved_bytes();
  if (grown > 0) find_segment(context, grown);
  reserve(context.process, event.device, bytes, event.time_ns);
}

void reserve(ProcessState &process, uint8_t device, int64_t bytes, uint64_t time_ns) {
  DeviceMemory &memory = process.devices[device];
  if (process.frame->finder) {
    process.frame->finder->note({time_ns, static_cast<uint64_t>(memory.reserved_bytes()), static_cast<uint64_t>(bytes),
                                 0, StepEntry::Reserved, device, memory.has_reserved()});
  }
  memory.set_reserved(time_ns, bytes);
}

}  // namespace gmt::model
