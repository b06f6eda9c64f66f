// Records that are no events: what blocks are for, what the framework's allocator says, answers of the agent.
#include "model/model.h"

namespace gmt::model {

/// All that holds from behind an event before the sequence `before`.
void Model::apply_records(uint32_t process, ProcessState &state, uint64_t before) {
  if (state.records.next() >= before) return;
  state.records.release(before, [&](const RecordQueue::Record &record) {
    if (const auto *name = std::get_if<trace::Name>(&record)) return name_block(state, *name);
    if (const auto *allocator = std::get_if<trace::Allocator>(&record))
      return state.devices[allocator->device].set_allocator(*allocator);
    if (const auto *part = std::get_if<trace::AnswerPart>(&record)) return add_answer(process, state, *part);
    const auto &said = std::get<trace::Said>(record);
    if (said.kind == GMT_BLOCK) detail_block(state, said.as<gmt_block>());
  });
}

void Model::name_block(ProcessState &state, const trace::Name &name) {
  TensorBlock *block = state.tensors.find(name.address, name.device);
  if (!block) return;
  if (block->activation && !block->named) {
    state.activations.remove(static_cast<uint8_t>(block->device), block->bytes);
  }
  block->named = true;
  state.names.name(block->address, static_cast<uint8_t>(block->device), block->bytes, name.category, name.text);
}

void Model::detail_block(ProcessState &state, const gmt_block &detail) {
  TensorBlock *block = state.tensors.find(detail.address, static_cast<uint8_t>(detail.device));
  if (!block || block->device != detail.device) return;
  block->detailed = true;
  state.details.tell(detail);
}

void Model::add_answer(uint32_t process, ProcessState &state, const trace::AnswerPart &part) {
  Answer *answer = state.answers.add(part, now_ns_);
  if (!answer) return;
  for (const BlockFacts &facts : blocks(process, addresses_in(answer->text))) {
    if (facts.known) answer->blocks.push_back(facts);
  }
}

/// Tensors and pinned memory: alive blocks first, then those that the running step ended.
std::vector<BlockFacts> Model::blocks(uint32_t process, const std::vector<uint64_t> &addresses) {
  std::vector<BlockFacts> found(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) found[i].address = addresses[i];
  if (!this->process(process)) return found;
  ProcessState &state = state_of(process);
  std::unordered_map<uint64_t, const EndedBlock *> ended;
  for (const EndedBlock &block : state.frame->ended) {
    if (block.address && accounts_.cell_infos()[block.cell].layer != Layer::Driver) ended[block.address] = &block;
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    size_t place;
    const uint32_t pinned = find(state, Space::Host, addresses[i], GMT_DEVICE_NONE, place);
    if (pinned != kNone) {
      const Block &block = blocks_[pinned];
      found[i] = {block.address, true, true, block.bytes, block.cell, block.device, block.step, block.time_ns};
    } else if (const TensorBlock *block = state.tensors.find(addresses[i], GMT_DEVICE_NONE)) {
      found[i] = {block->address, true,          true, block->bytes, block->cell, static_cast<uint8_t>(block->device),
                  block->step,    block->time_ns};
    } else if (const auto gone = ended.find(addresses[i]); gone != ended.end()) {
      const EndedBlock &block = *gone->second;
      found[i] = {block.address, true, false, block.bytes, block.cell, static_cast<uint8_t>(block.device),
                  block.step,    0};
    }
  }
  return found;
}

}  // namespace gmt::model
