#pragma once
// Which layout belongs to which version, and how 3.13 and later describe themselves. Pure functions over bytes, so that a tracer
// outside the process can use them on a copy of the interpreter's memory.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "python/python_layouts.h"

namespace gmt::python {

/// Reads digits and moves past them. By hand: strtoul would bind the guest library to the builder's glibc.
inline uint32_t parse_number(const char *&text) {
  uint32_t value = 0;
  for (; *text >= '0' && *text <= '9'; text++) value = value * 10 + static_cast<uint32_t>(*text - '0');
  return value & 0xff;
}

/// "3.9.18 (main, ...)" of Py_GetVersion as PY_VERSION_HEX; the level is final unless a letter says else.
inline uint32_t parse_version(const char *text) {
  uint32_t numbers[3] = {};
  for (uint32_t &number : numbers) {
    number = parse_number(text);
    if (*text == '.') text++;
  }
  uint32_t level = *text == 'a' ? 0xa0 : *text == 'b' ? 0xb0 : *text == 'r' ? 0xc0 : 0xf0;
  return numbers[0] << 24 | numbers[1] << 16 | numbers[2] << 8 | level;
}

/// The layout of a version, by PY_VERSION_HEX; null: not supported.
inline const Layout *table_of(uint32_t version) {
  constexpr const Layout *kTables[] = {&kLayout39, &kLayout310, &kLayout311, &kLayout312, &kLayout313, &kLayout314};
  const uint32_t place = (version >> 16) - 0x0309;
  return place < sizeof kTables / sizeof *kTables ? kTables[place] : nullptr;
}

/// Alphas and betas: their layouts still change.
inline bool is_prerelease(uint32_t version) { return (version & 0xf0) < 0xc0; }

/// From here on an interpreter describes itself.
inline constexpr uint32_t kFirstSelfDescribed = 0x030d0000;

/// Where _Py_DebugOffsets (pycore_runtime.h of 3.13, pycore_debug_offsets.h of 3.14) has the fields of interest, in words.
struct DebugWords {
  uint8_t thread_next, thread_id;
  uint8_t current_frame, previous, executable, position, owner;
  uint8_t file, name, full_name, line_table, first_line, code_bytes;
  uint8_t object_type, bytes_size, bytes_data, string_state, string_length, string_ascii;
};
inline constexpr DebugWords kWords313 = {21, 24, 23, 29, 30, 31, 33, 35, 36, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70};
inline constexpr DebugWords kWords314 = {24, 27, 26, 32, 33, 34, 36, 40, 41, 42, 43, 44, 48, 51, 75, 76, 78, 79, 80};
inline constexpr uint8_t kVersionWord = 1, kFreeThreadedWord = 2, kFinalizingWord = 4, kInterpretersWord = 5,
                         kThreadsWord = 9;
/// Enough of _PyRuntime for every word named here.
inline constexpr size_t kDebugOffsetsBytes = 81 * sizeof(uint64_t);

inline const DebugWords &debug_words(uint32_t version) { return version >= 0x030e0000 ? kWords314 : kWords313; }

inline uint64_t debug_word(const char *runtime, uint8_t index) {
  uint64_t value;
  memcpy(&value, runtime + index * sizeof value, sizeof value);
  return value;
}

inline bool has_debug_offsets(const char *runtime) { return memcmp(runtime, "xdebugpy", 8) == 0; }
inline bool is_free_threaded(const char *runtime) { return debug_word(runtime, kFreeThreadedWord) != 0; }

inline constexpr char kFewSymbols[] = "this build exports too few symbols";
inline constexpr char kUndescribed[] = "its description of itself, _Py_DebugOffsets, cannot be read";

/// The layout that the interpreter describes itself, over the table of its version; false if it contradicts what the walk takes
/// for granted. `runtime`: the first kDebugOffsetsBytes of _PyRuntime.
inline bool read_debug_offsets(const char *runtime, uint32_t version, Layout &layout) {
  if (!has_debug_offsets(runtime) || debug_word(runtime, kVersionWord) != version) return false;
  const DebugWords &at = debug_words(version);
  auto field = [&](uint8_t index) {
    uint64_t offset = debug_word(runtime, index);
    return static_cast<uint16_t>(offset < 4096 ? offset : GMT_PYTHON_NONE);
  };
  layout.thread_frame = field(at.current_frame);
  layout.frame_previous = field(at.previous);
  layout.frame_code = field(at.executable);
  layout.frame_position = field(at.position);
  layout.frame_first_local = field(at.position + 1);  // instr_ptr, localsplus
  layout.frame_owner = field(at.owner);
  layout.code_file = field(at.file);
  layout.code_name = field(at.name);
  layout.code_full_name = field(at.full_name);
  layout.code_line_table = field(at.line_table);
  layout.code_first_line = field(at.first_line);
  layout.code_counts = static_cast<uint16_t>(layout.code_first_line - 4);
  layout.code_version = static_cast<uint16_t>(layout.code_first_line + 24);
  layout.code_bytes = field(at.code_bytes);
  layout.string_ascii = field(at.string_ascii);
  layout.string_other = static_cast<uint16_t>(layout.string_ascii + 16);
  layout.finalizing = field(kFinalizingWord);
  for (uint16_t offset :
       {layout.thread_frame, layout.frame_previous, layout.frame_code, layout.frame_position, layout.frame_first_local,
        layout.frame_owner, layout.code_file, layout.code_name, layout.code_full_name, layout.code_line_table,
        layout.code_first_line, layout.code_bytes, layout.string_ascii, layout.finalizing})
    if (offset == GMT_PYTHON_NONE) return false;
  return field(at.object_type) == GMT_PYTHON_OBJECT_TYPE && field(at.bytes_size) == GMT_PYTHON_BYTES_SIZE &&
         field(at.bytes_data) == GMT_PYTHON_BYTES_DATA && field(at.string_state) == GMT_PYTHON_STRING_STATE &&
         field(at.string_length) == GMT_PYTHON_STRING_LENGTH;
}

/// The layout of an interpreter of that version, `runtime` as above from kFirstSelfDescribed on. Null, or why it is not supported.
inline const char *choose_layout(uint32_t version, const char *runtime, Layout &layout) {
  const Layout *table = table_of(version);
  if (!table) return "3.9 to 3.14 are";
  if (is_prerelease(version)) return "a pre-release; 3.9 to 3.14 are";
  layout = *table;
  if (version < kFirstSelfDescribed) return nullptr;
  if (!runtime) return kFewSymbols;
  if (has_debug_offsets(runtime) && is_free_threaded(runtime))
    return "a build without the GIL; builds of 3.9 to 3.14 with it are";
  return read_debug_offsets(runtime, version, layout) ? nullptr : kUndescribed;
}

}  // namespace gmt::python
