#pragma once
// Line numbers from CPython's line tables, as PyCode_Addr2Line gives them. (CPython, BSD-like PSF licence; the formats:
// Objects/lnotab_notes.txt of 3.9 and 3.10, InternalDocs/code_objects.md / Objects/locations.md of 3.11+.)
#include <cstdint>
#include <span>

namespace gmt::trace {

/// No Python line belongs to the instruction.
constexpr int kNoLine = -1;

/// The line of the instruction at byte `offset` (0xffffffff, before the first: `first_line`) of a code object; kNoLine where the table
/// says so or ends before. `python_version`: 0x0309 to 0x030e, later ones are read as that. Any bytes are safe.
int line_of_offset(uint16_t python_version, std::span<const uint8_t> table, uint32_t first_line, uint32_t offset);

}  // namespace gmt::trace
