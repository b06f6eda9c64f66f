// Copies what a reader needs of a code object.
#include <string.h>

#include "python/interpreter.h"

namespace gmt::python {
namespace {

/// A string that could not be read: a str whose characters lie elsewhere (made by long deprecated functions).
constexpr char kUnreadable[] = "?";

/// Writes one character as UTF-8, surrogates (which a file name of undecodable bytes has) as U+FFFD. Returns its
/// length.
size_t put_utf8(uint32_t c, char *out) {
  if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xc0 | c >> 6);
    out[1] = static_cast<char>(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xe0 | c >> 12);
    out[1] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out[2] = static_cast<char>(0x80 | (c & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | c >> 18);
  out[1] = static_cast<char>(0x80 | (c >> 12 & 0x3f));
  out[2] = static_cast<char>(0x80 | (c >> 6 & 0x3f));
  out[3] = static_cast<char>(0x80 | (c & 0x3f));
  return 4;
}

uint32_t character(const char *data, uint32_t width, uint64_t index) {
  if (width == 1) return static_cast<unsigned char>(data[index]);
  if (width == 2) return load<uint16_t>(data, index * 2);
  return load<uint32_t>(data, index * 4);
}

/// Bits of PyASCIIObject.state, the same from 3.9 to 3.14: interned:2, kind:3, compact:1, ascii:1.
struct StringState {
  uint32_t width;
  bool compact;
  bool ascii;
};
StringState state_of(const char *string) {
  uint32_t bits = load<uint32_t>(string, kStringState);
  return {bits >> 2 & 7, (bits & 0x20) != 0, (bits & 0x40) != 0};
}

/// Writes at most `limit` bytes of whole characters. Returns how many.
uint32_t copy_string(const Layout &layout, const char *string, char *out, size_t limit) {
  StringState state = string ? state_of(string) : StringState{};
  if (!state.compact || (state.width != 1 && state.width != 2 && state.width != 4)) {
    memcpy(out, kUnreadable, 1);
    return 1;
  }
  uint64_t length = load<uint64_t>(string, kStringLength);
  const char *data = string + (state.ascii ? layout.string_ascii : layout.string_other);
  if (state.ascii) {
    size_t bytes = length < limit ? length : limit;
    memcpy(out, data, bytes);
    return static_cast<uint32_t>(bytes);
  }
  size_t bytes = 0;
  for (uint64_t i = 0; i < length; i++) {
    char encoded[4];
    size_t size = put_utf8(character(data, state.width, i), encoded);
    if (bytes + size > limit) break;
    memcpy(out + bytes, encoded, size);
    bytes += size;
  }
  return static_cast<uint32_t>(bytes);
}

}  // namespace

size_t describe_code(const Frame &frame, uint32_t id, void *buffer, size_t capacity) {
  if (capacity < kMinDescriptionBytes || !frame.code || !interpreter.ready.load(std::memory_order_acquire)) return 0;
  const Layout &layout = interpreter.layout;
  gmt_code_record record = {};
  record.id = id;
  record.first_line = load<uint32_t>(frame.code, layout.code_first_line);
  record.python_version = static_cast<uint16_t>(interpreter.version >> 16);

  char *out = static_cast<char *>(buffer) + sizeof record;
  record.file_bytes = copy_string(layout, load<const char *>(frame.code, layout.code_file), out, kMaxFileBytes);
  out += record.file_bytes;
  record.name_bytes = copy_string(layout, load<const char *>(frame.code, layout.code_full_name), out, kMaxNameBytes);
  out += record.name_bytes;

  size_t used = sizeof record + record.file_bytes + record.name_bytes;
  const char *table = load<const char *>(frame.code, layout.code_line_table);
  uint64_t table_bytes = table ? load<uint64_t>(table, kBytesSize) : 0;
  if (table && table_bytes <= capacity - used) {
    memcpy(out, table + kBytesData, table_bytes);
    record.line_table_bytes = static_cast<uint32_t>(table_bytes);
  } else {
    record.flags = GMT_CODE_CUT;
  }
  memcpy(buffer, &record, sizeof record);
  return used + record.line_table_bytes;
}

}  // namespace gmt::python
