#pragma once
// What differs between the processors that the tracer runs on: x86-64 and arm64.
#include <elf.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#elif !defined(__aarch64__)
#error "GPU Memory Trace is for x86-64 and arm64."
#endif

namespace gmt {

/// The counter that user code may read ticks evenly on all cores.
inline bool has_even_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));  // EDX bit 8: an invariant time-stamp counter
#else
  return true;  // Arm's generic timer: one for the whole machine
#endif
}

inline uint64_t read_counter() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

/// For writing, a little ahead: another core touched these lines first (chunk_supply.h). On x86-64 __builtin_prefetch has them brought
/// for reading only, and the store would then have to wait again.
inline void fetch_to_write(void *at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" ::"m"(*static_cast<char *>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

/// Relocations of a slot that a function is called through, and of one that has the address of something with a name.
#if defined(__x86_64__)
constexpr uint32_t kCalledSlot = R_X86_64_JUMP_SLOT, kNamedSlot = R_X86_64_GLOB_DAT;
#else
constexpr uint32_t kCalledSlot = R_AARCH64_JUMP_SLOT, kNamedSlot = R_AARCH64_GLOB_DAT;
#endif

/// A return address as it lies on the stack, without the signature that Armv8.3's pointer authentication gives it.
inline uintptr_t return_address(uintptr_t word) {
#if defined(__x86_64__)
  return word;
#else
  return word & ((1ull << 48) - 1);
#endif
}

}  // namespace gmt
