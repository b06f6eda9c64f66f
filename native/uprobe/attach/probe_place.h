#pragma once
// Where in a function a probe is cheapest. The kernel carries out a probed push, nop or jump itself; any other instruction it
// runs out of line with a single step, which costs several times as much (20 times in some virtual machines).
#include <cstddef>
#include <cstdint>
#include <span>

namespace gmt::uprobe {

/// Bytes from the function's begin to the place for its probe, 0 where it is not sure. Only instructions are passed over that run once
/// a call and leave all argument registers alone, and with `keeps_stack` (probes that also need the return) the stack pointer.
uint32_t probe_place(std::span<const std::byte> code, bool keeps_stack);

}  // namespace gmt::uprobe
