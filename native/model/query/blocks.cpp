#include <unordered_map>

#include "model/query/questions.h"

namespace gmt::model {
namespace {

/// Blocks by address that the running step ended.
std::unordered_map<uint64_t, const EndedBlock *> ended_blocks(const State &state, const ProcessState &process) {
  std::unordered_map<uint64_t, const EndedBlock *> ended;
  for (const EndedBlock &block : process.frame->ended) {
    const bool driver = state.accounts.cell_infos()[block.cell].layer == Layer::Driver;
    if (block.address && !driver) ended[block.address] = &block;
  }
  return ended;
}

}  // namespace

std::vector<BlockFacts> blocks(const State &state, uint32_t number, const std::vector<uint64_t> &addresses) {
  std::vector<BlockFacts> found;
  const ProcessState *process = state.process(number);
  const auto ended = process ? ended_blocks(state, *process) : std::unordered_map<uint64_t, const EndedBlock *>{};
  for (const uint64_t address : addresses) {
    found.push_back({.address = address});
    if (!process) continue;
    const auto fill = [&](const auto &block, bool alive, uint64_t time_ns) {
      found.back() = {address,    true,   alive, block.bytes, block.cell, static_cast<uint8_t>(block.device),
                      block.step, time_ns};
    };
    const uint32_t pinned = process->table(Space::Host).block_of(address, GMT_DEVICE_NONE);
    if (pinned != kNone) {
      fill(state.blocks[pinned], true, state.blocks[pinned].time_ns);
    } else if (const TensorBlock *block = process->tensors.find(address, GMT_DEVICE_NONE)) {
      fill(*block, true, block->time_ns);
    } else if (const auto gone = ended.find(address); gone != ended.end()) {
      fill(*gone->second, false, 0);
    } else if (const uint32_t own = process->table(Space::Device).block_of(address, GMT_DEVICE_NONE);
               own != kNone && !state.blocks[own].segment) {
      fill(state.blocks[own], true, state.blocks[own].time_ns);
    }
  }
  return found;
}

}  // namespace gmt::model
