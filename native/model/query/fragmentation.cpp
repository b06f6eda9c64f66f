#include <algorithm>

#include "model/query/questions.h"
#include "model/query/segment_list.h"

namespace gmt::model {

Fragmentation fragmentation(const State &state, uint32_t process, int32_t device) {
  Fragmentation out;
  if (!state.process(process)) return out;
  const std::vector<const TensorBlock *> tensors = tensors_on(*state.process(process), device);
  for (const Segment &segment : framework_segments(state, process, device, tensors)) {
    if (segment.pool != 0 && segment.pool != kNone) continue;
    ++out.segments;
    out.segment_bytes += segment.end - segment.begin;
    out.free_bytes += segment.gap_bytes;
    out.largest_free_bytes = std::max(out.largest_free_bytes, segment.largest_gap);
    if (segment.blocks == 0) out.empty_bytes += segment.gap_bytes;
    out.partly_used_segments += segment.blocks > 0 && segment.gap_bytes > 0;
  }
  return out;
}

}  // namespace gmt::model
