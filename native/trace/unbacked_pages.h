#pragma once
// Mapped files whose pages may be gone. To read a hole takes a page of the disk where that is memory, and a full one answers with
// SIGBUS, as a file does that was cut short: both are read as zeros instead.
#include <cstddef>

namespace gmt::trace {

/// From here on this mapping, which is only read, never ends the program.
void read_unbacked_as_zeros(const void *mapped, size_t bytes);
/// It is about to go.
void forget_unbacked(const void *mapped);

}  // namespace gmt::trace
