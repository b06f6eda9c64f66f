#pragma once
// What tells two code objects apart that had the same address, one after the other. From 3.12 on that is
// co_version, unique in the interpreter until 2^32 code objects were made; then and before it is the content:
// file, name, counts, first line and a sample of the line table, all of which a reader shows or derives from.
#include "python/interpreter.h"

namespace gmt::python {

/// Both halves of the 128-bit product, folded: every bit of a and b reaches every bit of the result.
[[gnu::always_inline]] inline uint64_t fold(uint64_t a, uint64_t b) {
  auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline constexpr uint64_t kMixA = 0x9e3779b97f4a7c15ull;
inline constexpr uint64_t kMixB = 0xd1b54a32d192ed03ull;

/// Mixes `size` bytes: all of them up to 64, else 8 words spread over them. Reads whole words; the last one of
/// fewer than 8 bytes is read past the end, inside the object's allocation, and masked.
[[gnu::always_inline]] inline uint64_t sample(const char *data, uint64_t size) {
  uint64_t mixed = size * kMixA;
  if (size < 8) {
    uint64_t mask = (1ull << (size * 8)) - 1;
    return fold(mixed ^ kMixB, (load<uint64_t>(data, 0) & mask) ^ kMixA);
  }
  uint64_t last = size - 8;
  if (size <= 64) {
    for (uint64_t at = 0; at < last; at += 8) mixed = fold(mixed ^ kMixB, load<uint64_t>(data, at) ^ kMixA);
  } else {
    uint64_t step = last / 7;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 7; i++) sum += fold(load<uint64_t>(data, i * step) ^ kMixA, kMixB + i * kMixA);
    mixed ^= sum;
  }
  return fold(mixed ^ kMixB, load<uint64_t>(data, last) ^ kMixA);
}

/// A str by its cached hash, which depends on all of it; by a sample of its characters until that is known.
[[gnu::always_inline]] inline uint64_t string_print(const Layout &layout, const char *string) {
  if (!string) return 0;
  uint64_t hash = load<uint64_t>(string, kStringHash);
  if (__builtin_expect(hash != ~0ull, 1)) return hash;
  uint32_t state = load<uint32_t>(string, kStringState);
  if (!(state & 0x20)) return 0;
  bool ascii = state & 0x40;
  uint64_t width = state >> 2 & 7;
  return sample(string + (ascii ? layout.string_ascii : layout.string_other),
                load<uint64_t>(string, kStringLength) * width);
}

[[gnu::always_inline]] inline uint64_t content_print(const Layout &layout, const char *code) {
  uint64_t file = string_print(layout, load<const char *>(code, layout.code_file));
  uint64_t name = string_print(layout, load<const char *>(code, layout.code_name));
  uint64_t mixed = fold(file ^ kMixA, name ^ kMixB) + fold(load<uint64_t>(code, layout.code_counts) ^ kMixA,
                                                           load<uint64_t>(code, layout.code_counts + 8) ^ kMixB);
  const char *table = load<const char *>(code, layout.code_line_table);
  return table ? mixed ^ sample(table + kBytesData, load<uint64_t>(table, kBytesSize)) : mixed;
}

[[gnu::always_inline]] inline uint64_t fingerprint(const Layout &layout, const char *code) {
  if (layout.code_version != kNone) {
    uint32_t version = load<uint32_t>(code, layout.code_version);
    if (__builtin_expect(version != 0, 1)) return version;
  }
  return content_print(layout, code);
}

}  // namespace gmt::python
