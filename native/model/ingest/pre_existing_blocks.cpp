#include <vector>

#include "model/ingest/driver_blocks.h"
#include "model/ingest/events.h"

namespace gmt::model {
namespace {

/// The allocator's list of pre-existing memory, applied as events.
struct PreExistingList {
  State &all;
  ProcessState &process;
  gmt_before about;
  LifetimeLog *lifetimes;

  uint8_t device() const { return static_cast<uint8_t>(about.device); }
  bool tensors() const { return about.kind == GMT_TENSOR_ALLOC; }
  template <typename Handle>
  void apply(uint8_t kind, uint64_t address, uint64_t bytes, uint32_t stack, Handle handle) const {
    const trace::Event event{process.next_sequence, all.now_ns, address, bytes, stack, 0, 0, 0, device(), kind};
    handle(Context{all, process, trace::Batch{process.number, {}, {}, {}}, event, nullptr, nullptr, lifetimes});
  }
};

void begin_tensor(const PreExistingList &list, const gmt_before_block &block) {
  const TensorBlock *known = list.process.tensors.find(block.address, list.device());
  if (!known || known->bytes != block.bytes)
    list.apply(GMT_TENSOR_ALLOC, block.address, block.bytes, list.about.stack, allocate_tensor);
}

void begin_segment(const PreExistingList &list, const gmt_before_block &block) {
  const auto known = [&] { return list.process.table(Space::Device).block_of(block.address, list.device()); };
  const uint32_t old = known();
  if (old == kNone || list.all.blocks[old].bytes != block.bytes)
    list.apply(GMT_DEVICE_ALLOC, block.address, block.bytes, list.about.stack, handle_driver_event);
  Block &segment = list.all.blocks[known()];
  if (!segment.segment) list.all.accounts.add_segment(segment.cell);
  segment.segment = true;
}

void end_missing_tensors(const PreExistingList &list) {
  std::vector<TensorBlock> gone;
  list.process.tensors.each([&](const TensorBlock &block) {
    if (block.device == list.device() && list.process.waking.is_gone(block.address, true)) gone.push_back(block);
  });
  for (const TensorBlock &block : gone) list.apply(GMT_TENSOR_FREE, block.address, block.bytes, 0, free_tensor);
}

void end_missing_segments(const PreExistingList &list) {
  std::vector<uint32_t> gone;
  list.all.blocks.each([&](uint32_t index, const Block &block) {
    const bool own = list.all.accounts.cell_infos()[block.cell].process == list.process.number;
    if (own && block.segment && block.device == list.device() && list.process.waking.is_gone(block.address, false))
      gone.push_back(index);
  });
  for (const uint32_t index : gone)
    list.apply(GMT_FREE, list.all.blocks[index].address, 0, 0,
               [&](const Context &context) { end_block(context, index); });
  reserve(list.process, list.device(), static_cast<int64_t>(list.about.reserved_bytes), list.all.now_ns);
}

}  // namespace

void apply_pre_existing(State &all, ProcessState &process, const trace::ModelRecord &record, LifetimeLog *lifetimes) {
  const PreExistingList list{all, process, record.as<gmt_before>(), lifetimes};
  if (list.about.kind == 0) process.waking.end();
  if (!process.waking.active()) return;
  const char *at = record.payload.data() + sizeof list.about;
  const size_t count = (record.payload.size() - sizeof list.about) / sizeof(gmt_before_block);
  for (size_t i = 0; i < count && i < list.about.count; ++i) {
    gmt_before_block block;
    std::memcpy(&block, at + i * sizeof block, sizeof block);
    process.waking.list(block.address, list.tensors());
    if (process.waking.touched(block.address, list.tensors())) continue;
    list.tensors() ? begin_tensor(list, block) : begin_segment(list, block);
  }
  if (list.about.part + 1 != list.about.parts) return;
  list.tensors() ? end_missing_tensors(list) : end_missing_segments(list);
}

}  // namespace gmt::model
