#include "trace/log/line_table.h"

#include <cstddef>

namespace gmt::trace {
namespace {

using Table = std::span<const uint8_t>;

int as_line(int64_t line) { return line < 0 || line > 0x7fffffff ? kNoLine : static_cast<int>(line); }

// co_lnotab: pairs (bytes to advance, signed lines to advance).
int line_39(Table table, int64_t line, uint32_t offset) {
  uint64_t address = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    address += table[i];
    if (address > offset) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return as_line(line);
}

// co_linetable of 3.10: pairs (bytes that the range is long, signed lines to advance before it; -128: no line).
int line_310(Table table, int64_t line, uint32_t offset) {
  uint64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    end += table[i];
    int8_t delta = static_cast<int8_t>(table[i + 1]);
    if (delta != -128) line += delta;
    if (end > offset) return delta == -128 ? kNoLine : as_line(line);
  }
  return kNoLine;
}

// A zig-zag number in groups of 6 bits, lowest first; bit 6 says that another group follows.
int64_t signed_varint(Table table, size_t at) {
  uint32_t value = 0;
  for (unsigned shift = 0; at < table.size(); shift += 6, ++at) {
    if (shift < 32) value |= static_cast<uint32_t>(table[at] & 63u) << shift;
    if (!(table[at] & 64u)) break;
  }
  int64_t half = value >> 1;
  return value & 1 ? -half : half;
}

enum LocationCode { kOneLine0 = 10, kOneLine1 = 11, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15 };

int64_t line_delta(Table table, size_t entry) {
  switch ((table[entry] >> 3) & 15) {
    case kOneLine1:
      return 1;
    case kOneLine2:
      return 2;
    case kNoColumns:
    case kLong:
      return signed_varint(table, entry + 1);
    default:
      return 0;
  }
}

// Location table of 3.11+: an entry's first byte has bit 7 set, 4 bits of code, 3 bits of length - 1 in 2-byte code units.
int line_311(Table table, int64_t line, uint32_t offset) {
  uint64_t end = 0;
  for (size_t entry = 0; entry < table.size();) {
    line += line_delta(table, entry);
    end += ((table[entry] & 7u) + 1) * 2;
    if (end > offset) return table[entry] >> 3 == 0x1f ? kNoLine : as_line(line);
    do {
      ++entry;
    } while (entry < table.size() && !(table[entry] & 128u));
  }
  return kNoLine;
}

}  // namespace

int line_of_offset(uint16_t python_version, Table table, uint32_t first_line, uint32_t offset) {
  if (offset == 0xffffffffu) return as_line(first_line);
  if (python_version < 0x030a) return line_39(table, first_line, offset);
  if (python_version == 0x030a) return line_310(table, first_line, offset);
  return line_311(table, first_line, offset);
}

}  // namespace gmt::trace
