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

/// Mixes the first, middle and last 8 of `size` bytes, which is all of them up to 24. Fewer than 8 are read as one
/// word, which stays inside the object's allocation, and masked.
[[gnu::always_inline]] inline uint64_t sample(const char *data, uint64_t size) {
  if (size < 8) {
    uint64_t mask = (1ull << (size * 8)) - 1;
    return fold((load<uint64_t>(data, 0) & mask) ^ kMixA, kMixB + size);
  }
  uint64_t ends = fold(load<uint64_t>(data, 0) ^ kMixA, load<uint64_t>(data, size - 8) ^ kMixB);
  return ends + (load<uint64_t>(data, (size - 8) / 2) + size) * kMixA;
}

/// The word of a str that ends at character `end`, or its first one. It is meant for ASCII; of another str it may
/// be a part of the header, which tells less and may change once (then one code object is described twice).
[[gnu::always_inline]] inline uint64_t string_word(const Layout &layout, const char *string, uint64_t end) {
  return load<uint64_t>(string, layout.string_ascii + (end < 8 ? 0 : end - 8));
}

/// Sums products that do not wait for one another: before 3.12 it runs for each frame of each event. The name is
/// always interned and so has its hash; the file and the qualified name mostly have none.
[[gnu::always_inline]] inline uint64_t content_print(const Layout &layout, const char *code) {
  auto *file = load<const char *>(code, layout.code_file);
  auto *name = load<const char *>(code, layout.code_name);
  auto *full_name = load<const char *>(code, layout.code_full_name);
  auto *table = load<const char *>(code, layout.code_line_table);
  if (__builtin_expect(!file || !name || !full_name || !table, 0)) return 0;
  uint64_t file_length = load<uint64_t>(file, GMT_PYTHON_STRING_LENGTH);
  uint64_t file_print = reinterpret_cast<uint64_t>(file) + string_word(layout, file, file_length) + file_length * kMixA;
  uint64_t name_print = load<uint64_t>(name, GMT_PYTHON_STRING_HASH);
  if (layout.code_full_name != layout.code_name) name_print += string_word(layout, full_name, 0) * kMixA;
  uint64_t counts = load<uint64_t>(code, layout.code_counts);
  uint64_t more_counts = load<uint64_t>(code, layout.code_counts + 8);
  return fold(file_print ^ kMixA, name_print ^ kMixB) + fold(counts ^ kMixB, more_counts ^ kMixA) +
         sample(table + GMT_PYTHON_BYTES_DATA, load<uint64_t>(table, GMT_PYTHON_BYTES_SIZE));
}

/// Out of the loop, which would be slower with it inside.
[[gnu::noinline, gnu::cold]] inline uint64_t rare_content_print(const Layout &layout, const char *code) {
  return content_print(layout, code);
}

[[gnu::always_inline]] inline uint64_t fingerprint(const Layout &layout, const char *code) {
  if (layout.code_version == GMT_PYTHON_NONE) return content_print(layout, code);
  uint32_t version = load<uint32_t>(code, layout.code_version);
  return __builtin_expect(version != 0, 1) ? version : rare_content_print(layout, code);
}

}  // namespace gmt::python
