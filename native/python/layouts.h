#pragma once
// Where CPython keeps what a stack walk reads, as data. Byte offsets on 64-bit Linux, builds with the GIL.
// Sources: 3.9 to 3.12 the DWARF of release builds (Include/internal and Include/cpython of each version agree);
// 3.13 and 3.14 describe themselves in _Py_DebugOffsets at the start of _PyRuntime, and the two tables here only
// select the code that was compiled for them.
#include <cstdint>

namespace gmt::python {

inline constexpr uint16_t kNone = 0xffff;

/// How a frame tells the instruction that runs.
enum class Position : uint16_t {
  kBytes,    ///< int, bytes from the first instruction
  kUnits,    ///< int, units of two bytes from the first instruction
  kPointer,  ///< address in the code object
};

struct Layout {
  uint16_t thread_frame;       ///< PyThreadState: innermost frame, or the CFrame that points to it
  uint16_t cframe_frame;       ///< CFrame: innermost frame; kNone: the version has no CFrame
  uint16_t frame_previous;     ///< next older frame
  uint16_t frame_code;         ///< code object
  uint16_t frame_code_tag;     ///< bits of that word which are not address
  uint16_t frame_position;     ///< instruction
  Position position;           ///< what kind of field that is
  uint16_t frame_first_local;  ///< its first argument; what is no address in it as in `frame_code_tag`
  uint16_t frame_owner;        ///< char, >= kOwnerShim: no frame of the program; kNone: every frame is one
  uint16_t code_counts;        ///< 16 bytes of counts that never change, the first line among them: for the fingerprint
  uint16_t code_version;       ///< co_version; kNone: the version has none
  uint16_t code_first_line;    ///< int
  uint16_t code_file;          ///< str
  uint16_t code_name;          ///< str, interned: its hash is known
  uint16_t code_full_name;     ///< str; the qualified name, or the name again where the version has none
  uint16_t code_line_table;    ///< bytes
  uint16_t code_bytes;         ///< first instruction, where position is a pointer
  uint16_t string_ascii;       ///< str: characters of a compact ASCII string
  uint16_t string_other;       ///< str: characters of another compact string
  uint16_t thread_key;         ///< _PyRuntime: Py_tss_t of the thread states; a hint, checked before use
  uint16_t finalizing;         ///< _PyRuntime: pointer, not null once the interpreter finalizes

  bool operator==(const Layout &) const = default;
};

inline constexpr uint8_t kOwnerShim = 3;

// The same in every version that is supported.
inline constexpr uint16_t kObjectType = 8;
inline constexpr uint16_t kBytesSize = 16;
inline constexpr uint16_t kBytesData = 32;
inline constexpr uint16_t kStringLength = 16;
inline constexpr uint16_t kStringHash = 24;
inline constexpr uint16_t kStringState = 32;
inline constexpr uint16_t kTypeMembers = 240;

inline constexpr Layout kLayout39 = {.thread_frame = 24,
                                     .cframe_frame = kNone,
                                     .frame_previous = 24,
                                     .frame_code = 32,
                                     .frame_code_tag = 0,
                                     .frame_position = 104,
                                     .position = Position::kBytes,
                                     .frame_first_local = 360,
                                     .frame_owner = kNone,
                                     .code_counts = 28,
                                     .code_version = kNone,
                                     .code_first_line = 40,
                                     .code_file = 104,
                                     .code_name = 112,
                                     .code_full_name = 112,
                                     .code_line_table = 120,
                                     .code_bytes = kNone,
                                     .string_ascii = 48,
                                     .string_other = 72,
                                     .thread_key = 584,
                                     .finalizing = 16};

inline constexpr Layout kLayout310 = [] {
  Layout layout = kLayout39;
  layout.frame_position = 96;
  layout.position = Position::kUnits;
  layout.frame_first_local = 352;
  return layout;
}();

inline constexpr Layout kLayout311 = {.thread_frame = 56,
                                      .cframe_frame = 8,
                                      .frame_previous = 48,
                                      .frame_code = 32,
                                      .frame_code_tag = 0,
                                      .frame_position = 56,
                                      .position = Position::kPointer,
                                      .frame_first_local = 72,
                                      .frame_owner = 69,
                                      .code_counts = 68,
                                      .code_version = kNone,
                                      .code_first_line = 72,
                                      .code_file = 112,
                                      .code_name = 120,
                                      .code_full_name = 128,
                                      .code_line_table = 136,
                                      .code_bytes = 184,
                                      .string_ascii = 48,
                                      .string_other = 72,
                                      .thread_key = 592,
                                      .finalizing = 24};

inline constexpr Layout kLayout312 = {.thread_frame = 56,
                                      .cframe_frame = 0,
                                      .frame_previous = 8,
                                      .frame_code = 0,
                                      .frame_code_tag = 0,
                                      .frame_position = 56,
                                      .position = Position::kPointer,
                                      .frame_first_local = 72,
                                      .frame_owner = 70,
                                      .code_counts = 64,
                                      .code_version = 92,
                                      .code_first_line = 68,
                                      .code_file = 112,
                                      .code_name = 120,
                                      .code_full_name = 128,
                                      .code_line_table = 136,
                                      .code_bytes = 192,
                                      .string_ascii = 40,
                                      .string_other = 56,
                                      .thread_key = 1544,
                                      .finalizing = 24};

inline constexpr Layout kLayout313 = [] {
  Layout layout = kLayout312;
  layout.thread_frame = 72;
  layout.cframe_frame = kNone;
  layout.code_bytes = 200;
  layout.thread_key = 2160;
  layout.finalizing = 608;
  return layout;
}();

inline constexpr Layout kLayout314 = [] {
  Layout layout = kLayout313;
  layout.frame_code_tag = 3;
  layout.frame_first_local = 80;
  layout.frame_owner = 74;
  layout.code_bytes = 208;
  layout.thread_key = 2336;
  layout.finalizing = 784;
  return layout;
}();

}  // namespace gmt::python
