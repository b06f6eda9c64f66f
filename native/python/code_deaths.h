#pragma once
// What distinguishes two code objects that had the same address, one after the other: how many that were described have died there. Their
// contents would not do: code that a program compiles again and again differs in a line only, anywhere in its table of lines. Deaths
// are seen where the interpreter has them, in the slot of PyCode_Type that frees one; a frame that runs owns its code.
#include <atomic>
#include <cstdint>

namespace gmt::python {

extern std::atomic<uint64_t> code_deaths;  ///< of code objects that were described

/// Sees all deaths from here on. False: the type has no function there, or there is no memory.
bool watch_code_deaths(const void *code_type);

/// The code object is described, and counts when it dies. It lives.
void watch_code(const void *code);

uint64_t deaths_at_address(const void *code);

/// Deaths at the address of a code object that lives.
[[gnu::always_inline]] inline uint64_t deaths_at(const void *code) {
  return __builtin_expect(code_deaths.load(std::memory_order_relaxed) == 0, 1) ? 0 : deaths_at_address(code);
}

}  // namespace gmt::python
