#pragma once
// A model and the place in the logs up to which it has read, as bytes.
#include <cstddef>
#include <span>
#include <vector>

#include "model/model.h"
#include "trace/log_merger.h"

namespace gmt::session {

/// Rises with every change of what is kept, and of what the model makes of events: an older checkpoint is not what it would be now.
constexpr uint64_t kCheckpointVersion = 19;

/// Between two polls of the reader that feeds the model.
std::vector<std::byte> checkpoint(trace::LogMerger &reader, model::Model &model);

/// Puts both, which are new, to where they were then; the reader has the logs of then, which may have grown. False where the bytes
/// are of another version of this program, of other logs, or damaged: the two are of no use then.
bool resume(std::span<const std::byte> bytes, trace::LogMerger &reader, model::Model &model);

}  // namespace gmt::session
