#pragma once
// One step up the native stack by a library's own unwind tables (.eh_frame), reading them where they are mapped; on arm64 by frame
// records. No lock, no memory, no help of another library: a process need not have an unwinder loaded.
#include <stdint.h>

namespace gmt::inject {

constexpr uintptr_t kMostStack = 8u << 20;  ///< bytes from one frame to the next

/// Where a thread is in one frame: the address that it returns to, and the stack and frame registers as they are then.
struct Registers {
  uintptr_t ip;
  uintptr_t sp;
  uintptr_t fp;
};

/// How a frame's caller is found. The canonical frame address (CFA) is what the stack register was before the call.
struct UnwindRule {
  enum Base : uint8_t { kNone = 0, kStack = 1, kFrame = 2, kFrameMemory = 3 };
  enum Saved : uint8_t { kKept = 0, kFromCfa = 1, kFromFrame = 2, kLost = 3 };
  uint8_t base;   ///< CFA = sp + cfa, fp + cfa, or what lies at fp + cfa; kNone: there is no way up
  uint8_t saved;  ///< the caller's fp: unchanged, at CFA + frame, at fp + frame, gone
  int32_t cfa;    ///< bytes
  int32_t frame;  ///< bytes
};

/// The rule for the frame that returns to `ip`, from the library's table at `header` (its PT_GNU_EH_FRAME); kNone where the table
/// has none, or one that this reader does not know.
UnwindRule unwind_rule(uintptr_t header, uintptr_t ip);

/// Moves `at` to the caller. False: no way up, or one that leads out of the stack.
bool unwind(const UnwindRule &rule, Registers *at);

}  // namespace gmt::inject
