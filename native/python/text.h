#pragma once
// Characters of a Python str (1, 2 or 4 bytes each) as UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gmt::python {

/// Writes a character as UTF-8, of at most 4 bytes; surrogates (of undecodable file names) and what is none as U+FFFD. Its length.
inline size_t put_utf8(uint32_t c, char *out) {
  if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) c = 0xfffd;
  constexpr uint8_t kFirst[] = {0, 0, 0xc0, 0xe0, 0xf0};  // by length
  const size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = length; i-- > 1; c >>= 6) out[i] = static_cast<char>(0x80 | (c & 0x3f));
  out[0] = static_cast<char>(kFirst[length] | c);
  return length;
}

inline uint32_t character(const char *data, uint32_t width, uint64_t index) {
  uint32_t value = 0;
  memcpy(&value, data + index * width, width == 1 || width == 2 ? width : 4);
  return value;
}

/// Writes at most `limit` bytes of whole characters of a text of `length` characters of `width` bytes. Returns how many.
inline size_t put_text(const char *data, uint32_t width, uint64_t length, char *out, size_t limit) {
  size_t bytes = 0;
  for (uint64_t i = 0; i < length; i++) {
    char encoded[4];
    size_t size = put_utf8(character(data, width, i), encoded);
    if (bytes + size > limit) break;
    memcpy(out + bytes, encoded, size);
    bytes += size;
  }
  return bytes;
}

}  // namespace gmt::python
