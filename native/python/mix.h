#pragma once
// Numbers mixed into one.
#include <cstdint>

namespace gmt::python {

/// Both halves of the 128-bit product, folded: every bit of a and b reaches every bit of the result.
[[gnu::always_inline]] inline uint64_t fold(uint64_t a, uint64_t b) {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline constexpr uint64_t kMixA = 0x9e3779b97f4a7c15ull;
inline constexpr uint64_t kMixB = 0xd1b54a32d192ed03ull;

}  // namespace gmt::python
