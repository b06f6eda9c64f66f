#include <vector>

#include "model/ingest/driver_blocks.h"
#include "model/ingest/events.h"

namespace gmt::model {
namespace {

/// What the list tells, as events that nobody saw.
struct Telling {
  State &all;
  ProcessState &process;
  gmt_before about;
  LifetimeLog *lifetimes;

  uint8_t device() const { return static_cast<uint8_t>(about.device); }
  bool tensors() const { return about.kind == GMT_TENSOR_ALLOC; }
  template <typename Handle>
  void tell(uint8_t kind, uint64_t address, uint64_t bytes, uint32_t stack, Handle handle) const {
    const trace::Event event{process.next_sequence, all.now_ns, address, bytes, stack, 0, 0, 0, device(), kind};
    handle(Context{all, process, trace::Batch{process.number, {}, {}, {}}, event, nullptr, nullptr, lifetimes});
  }
};

void begin_tensor(const Telling &told, const gmt_before_block &block) {
  const TensorBlock *known = told.process.tensors.find(block.address, told.device());
  if (!known || known->bytes != block.bytes)
    told.tell(GMT_TENSOR_ALLOC, block.address, block.bytes, told.about.stack, allocate_tensor);
}

void begin_segment(const Telling &told, const gmt_before_block &block) {
  const auto known = [&] { return told.process.table(Space::Device).block_of(block.address, told.device()); };
  const uint32_t old = known();
  if (old == kNone || told.all.blocks[old].bytes != block.bytes)
    told.tell(GMT_DEVICE_ALLOC, block.address, block.bytes, told.about.stack, handle_driver_event);
  Block &segment = told.all.blocks[known()];
  if (!segment.segment) told.all.accounts.add_segment(segment.cell);
  segment.segment = true;
}

void end_missing_tensors(const Telling &told) {
  std::vector<TensorBlock> gone;
  told.process.tensors.each([&](const TensorBlock &block) {
    if (block.device == told.device() && told.process.waking.is_gone(block.address, true)) gone.push_back(block);
  });
  for (const TensorBlock &block : gone) told.tell(GMT_TENSOR_FREE, block.address, block.bytes, 0, free_tensor);
}

void end_missing_segments(const Telling &told) {
  std::vector<uint32_t> gone;
  told.all.blocks.each([&](uint32_t index, const Block &block) {
    const bool own = told.all.accounts.cell_infos()[block.cell].process == told.process.number;
    if (own && block.segment && block.device == told.device() && told.process.waking.is_gone(block.address, false))
      gone.push_back(index);
  });
  for (const uint32_t index : gone)
    told.tell(GMT_FREE, told.all.blocks[index].address, 0, 0,
              [&](const Context &context) { end_block(context, index); });
  reserve(told.process, told.device(), static_cast<int64_t>(told.about.reserved_bytes), told.all.now_ns);
}

}  // namespace

void take_before(State &all, ProcessState &process, const trace::Said &said, LifetimeLog *lifetimes) {
  const Telling told{all, process, said.as<gmt_before>(), lifetimes};
  if (told.about.kind == 0) process.waking.end();
  if (!process.waking.active()) return;
  const char *at = said.payload.data() + sizeof told.about;
  const size_t count = (said.payload.size() - sizeof told.about) / sizeof(gmt_before_block);
  for (size_t i = 0; i < count && i < told.about.count; ++i) {
    gmt_before_block block;
    std::memcpy(&block, at + i * sizeof block, sizeof block);
    process.waking.list(block.address, told.tensors());
    if (process.waking.touched(block.address, told.tensors())) continue;
    told.tensors() ? begin_tensor(told, block) : begin_segment(told, block);
  }
  if (told.about.part + 1 != told.about.parts) return;
  told.tensors() ? end_missing_tensors(told) : end_missing_segments(told);
}

}  // namespace gmt::model
