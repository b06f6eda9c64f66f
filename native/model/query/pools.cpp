#include "model/query/pools.h"

#include <algorithm>

#include "model/query/questions.h"
#include "model/query/segment_list.h"

namespace gmt::model {

std::unordered_map<uint64_t, uint32_t> pools_of_blocks(const State &state, const ProcessState &process) {
  std::unordered_map<uint64_t, uint32_t> found;
  if (!process.pools.listed()) return found;
  for (const auto &[number, memory] : process.devices) {
    const int32_t device = device_number(number);
    const std::vector<const TensorBlock *> tensors = tensors_on(process, device);
    auto block = tensors.begin();
    for (const Segment &segment : framework_segments(state, process.number, device, tensors)) {
      while (block != tensors.end() && (*block)->address < segment.begin) ++block;
      for (; block != tensors.end() && (*block)->address < segment.end; ++block) {
        if (segment.pool != kNone) found[(*block)->address] = segment.pool;
      }
    }
  }
  return found;
}

void add_pools(const State &state, const ProcessState &process, uint8_t number, std::vector<PoolRow> &out) {
  const std::vector<Pool> &known = process.pools.pools();
  const int32_t device = device_number(number);
  PoolRow paused{.process = process.number, .device = device, .kind = PoolKind::Paused, .label = kPaused};
  if (process.memory.reservations() > 0) {  // most programs have none
    process.tensors.each([&](const TensorBlock &block) {
      if (block.device == number && process.memory.paused(block.address)) paused.live_bytes += block.bytes;
    });
  }
  if (paused.live_bytes > 0) out.push_back(std::move(paused));
  if (known.size() == 1) return;
  std::vector<PoolRow> rows(known.size() + 1, PoolRow{.process = process.number, .device = device});
  std::vector<uint64_t> biggest(rows.size());
  for (size_t i = 0; i < known.size(); ++i) {
    rows[i].kind = known[i].kind;
    rows[i].makers = known[i].makers;
    rows[i].id = known[i].id();
    rows[i].label = known[i].label();
  }
  rows.back().label = kPoolUnknown;
  for (const Segment &segment : framework_segments(state, process.number, device, tensors_on(process, device))) {
    const size_t place = std::min<size_t>(segment.pool, known.size());
    PoolRow &row = rows[place];
    const uint64_t bytes = segment.end - segment.begin;
    ++row.segments;
    row.reserved_bytes += bytes;
    row.live_bytes += segment.live_bytes;
    if (bytes > std::exchange(biggest[place], std::max(bytes, biggest[place])))
      row.site = state.accounts.site_of(segment.cell);
  }
  for (PoolRow &row : rows) {
    if (row.segments > 0) out.push_back(std::move(row));
  }
}

std::vector<PoolRow> pools(const State &state) {
  std::vector<PoolRow> rows;
  state.each_process([&](const ProcessState &process) {
    for (const auto &[device, memory] : process.devices) add_pools(state, process, device, rows);
  });
  return rows;
}

}  // namespace gmt::model
