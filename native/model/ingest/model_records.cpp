#include "model/ingest/events.h"
#include "model/query/questions.h"

namespace gmt::model {

void name_block(ProcessState &process, TensorBlock &block, uint8_t category, const std::string &text) {
  if (block.activation && !block.named) process.activations.remove(static_cast<uint8_t>(block.device), block.bytes);
  process.names.name(block, category, text);
  block.named = true;
}

namespace {

void name_block(ProcessState &process, const trace::Name &name) {
  if (TensorBlock *block = process.tensors.find(name.address, name.device))
    name_block(process, *block, name.category, name.text);
}

void detail_block(ProcessState &process, const gmt_block &detail) {
  TensorBlock *block = process.tensors.find(detail.address, static_cast<uint8_t>(detail.device));
  if (!block || block->device != detail.device) return;
  block->detailed = true;
  process.details.set(detail);
}

void add_answer(State &all, ProcessState &process, const trace::AnswerPart &part) {
  Answer *answer = process.answers.add(part, all.now_ns);
  if (!answer) return;
  for (const BlockFacts &facts : blocks(all, process.number, addresses_in(answer->text))) {
    if (facts.known) answer->blocks.push_back(facts);
  }
}

}  // namespace

void apply_records(State &all, ProcessState &process, uint64_t before, LifetimeLog *lifetimes) {
  if (process.records.next() >= before) return;
  process.records.release(before, [&](const RecordQueue::Record &record) {
    if (const auto *name = std::get_if<trace::Name>(&record)) return name_block(process, *name);
    if (const auto *allocator = std::get_if<trace::Allocator>(&record))
      return process.devices[allocator->device].set_allocator(*allocator);
    if (const auto *part = std::get_if<trace::AnswerPart>(&record)) return add_answer(all, process, *part);
    const auto &other = std::get<trace::ModelRecord>(record);
    if (other.kind == GMT_BLOCK) detail_block(process, other.as<gmt_block>());
    if (other.kind == GMT_POOL) process.pools.apply(other, all.now_ns);
    if (other.kind == GMT_BEFORE) apply_pre_existing(all, process, other, lifetimes);
  });
}

}  // namespace gmt::model
