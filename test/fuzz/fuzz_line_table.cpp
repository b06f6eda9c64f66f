// Line tables. The input: 1 byte of version, 4 of first line, then the table.
#include <cstring>

#include "fuzz.h"
#include "trace/log/line_table.h"

FUZZ(line_table, const uint8_t *data, size_t size) {
  if (size < 5) return 0;
  uint16_t version = static_cast<uint16_t>(0x0309 + data[0] % 6);
  uint32_t first_line = 0;
  std::memcpy(&first_line, data + 1, sizeof first_line);
  for (uint32_t offset : {0u, 2u, 6u, 100u, 1000u, 0x7fffffffu, 0xfffffffeu, 0xffffffffu}) {
    int line = gmt::trace::line_of_offset(version, {data + 5, size - 5}, first_line, offset);
    if (line < gmt::trace::kNoLine) __builtin_trap();
  }
  return 0;
}
