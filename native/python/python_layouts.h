#pragma once
// The layout of each version, of builds with the GIL.
// Sources: 3.9 to 3.12 the DWARF of release builds (Include/internal and Include/cpython of each version agree);
// 3.13 and 3.14 describe themselves in _Py_DebugOffsets at the start of _PyRuntime, and the two tables here only
// select the code that was compiled for them.
#include "python/python_layout.h"

namespace gmt::python {

using Layout = gmt_python_layout;

inline constexpr uint16_t kTypeMembers = 240;

inline constexpr Layout kLayout39 = {.thread_frame = 24,
                                     .cframe_frame = GMT_PYTHON_NONE,
                                     .frame_previous = 24,
                                     .frame_code = 32,
                                     .frame_code_tag = 0,
                                     .frame_position = 104,
                                     .position = GMT_POSITION_BYTES,
                                     .frame_first_local = 360,
                                     .frame_owner = GMT_PYTHON_NONE,
                                     .code_counts = 28,
                                     .code_version = GMT_PYTHON_NONE,
                                     .code_first_line = 40,
                                     .code_file = 104,
                                     .code_name = 112,
                                     .code_full_name = 112,
                                     .code_line_table = 120,
                                     .code_bytes = GMT_PYTHON_NONE,
                                     .string_ascii = 48,
                                     .string_other = 72,
                                     .thread_key = 584,
                                     .finalizing = 16};

inline constexpr Layout kLayout310 = [] {
  Layout layout = kLayout39;
  layout.frame_position = 96;
  layout.position = GMT_POSITION_UNITS;
  layout.frame_first_local = 352;
  return layout;
}();

inline constexpr Layout kLayout311 = {.thread_frame = 56,
                                      .cframe_frame = 8,
                                      .frame_previous = 48,
                                      .frame_code = 32,
                                      .frame_code_tag = 0,
                                      .frame_position = 56,
                                      .position = GMT_POSITION_POINTER,
                                      .frame_first_local = 72,
                                      .frame_owner = 69,
                                      .code_counts = 68,
                                      .code_version = GMT_PYTHON_NONE,
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

inline constexpr Layout kLayout312 = [] {
  Layout layout = kLayout311;
  layout.cframe_frame = 0;
  layout.frame_previous = 8;
  layout.frame_code = 0;
  layout.frame_owner = 70;
  layout.code_counts = 64;
  layout.code_version = 92;
  layout.code_first_line = 68;
  layout.code_bytes = 192;
  layout.string_ascii = 40;
  layout.string_other = 56;
  layout.thread_key = 1544;
  return layout;
}();

inline constexpr Layout kLayout313 = [] {
  Layout layout = kLayout312;
  layout.thread_frame = 72;
  layout.cframe_frame = GMT_PYTHON_NONE;
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
