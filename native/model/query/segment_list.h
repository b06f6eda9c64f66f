#pragma once
// The segments of one process on one device, with what lies in them.
#include <vector>

#include "model/query/segment_map.h"
#include "model/state/state.h"

namespace gmt::model {

/// The blocks of the framework on a device, in address order.
std::vector<const TensorBlock *> tensors_on(const ProcessState &process, int32_t device);
/// What the driver gave in one piece: to a caching allocator, or all. Then what is mapped, piece by piece.
std::vector<Segment> segments_on(const State &state, uint32_t process, int32_t device, bool all);
/// Segments are what the caching allocator got from the driver in one piece; memory that is mapped piece by piece counts
/// where tensors lie in it, since others map memory too.
std::vector<Segment> framework_segments(const State &state, uint32_t process, int32_t device,
                                        const std::vector<const TensorBlock *> &tensors);

}  // namespace gmt::model
