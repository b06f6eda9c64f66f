#pragma once
// Which pool of the framework's allocator what lives is in.
#include <unordered_map>
#include <vector>

#include "model/query/step_queries.h"
#include "model/state/state.h"

namespace gmt::model {

constexpr const char *kPoolUnknown = "unknown pool";
/// Label of live tensors whose memory was returned to the GPU, as torch_memory_saver does.
constexpr const char *kPaused = "paused: addresses kept, memory returned to the GPU";

/// Numbers of pools, as PoolBook has them, of the process's live blocks by address; blocks that no look has reported have none.
std::unordered_map<uint64_t, uint32_t> pools_of_blocks(const State &state, const ProcessState &process);

/// Adds the pools that have segments on the device, none where there is only the common one; and what is paused.
void add_pools(const State &state, const ProcessState &process, uint8_t device, std::vector<PoolRow> &out);

}  // namespace gmt::model
