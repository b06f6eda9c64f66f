#pragma once
// Where one CPython keeps what a stack walk reads: byte offsets on 64-bit Linux. C11, compiled by `clang -target bpf` and by C++.
#include <stdint.h>

#define GMT_PYTHON_NONE 0xffffu

// The same in every version that is supported.
#define GMT_PYTHON_OBJECT_TYPE 8
#define GMT_PYTHON_BYTES_SIZE 16
#define GMT_PYTHON_BYTES_DATA 32
#define GMT_PYTHON_STRING_LENGTH 16
#define GMT_PYTHON_STRING_HASH 24
#define GMT_PYTHON_STRING_STATE 32
#define GMT_PYTHON_OWNER_SHIM 3

/// How a frame shows the instruction that runs.
enum gmt_python_position {
  GMT_POSITION_BYTES = 0,    ///< int, bytes from the first instruction
  GMT_POSITION_UNITS = 1,    ///< int, units of two bytes from the first instruction
  GMT_POSITION_POINTER = 2,  ///< address in the code object
};

struct gmt_python_layout {
  uint16_t thread_frame;       ///< PyThreadState: innermost frame, or the CFrame that points to it
  uint16_t cframe_frame;       ///< CFrame: innermost frame; GMT_PYTHON_NONE: the version has no CFrame
  uint16_t frame_previous;     ///< next older frame
  uint16_t frame_code;         ///< code object
  uint16_t frame_code_tag;     ///< bits of that word which are not address
  uint16_t frame_position;     ///< instruction
  uint16_t position;           ///< enum gmt_python_position: what kind of field that is
  uint16_t frame_first_local;  ///< its first argument; what is no address in it as in `frame_code_tag`
  uint16_t frame_owner;        ///< char, >= GMT_PYTHON_OWNER_SHIM: no frame of the program; GMT_PYTHON_NONE: all are
  uint16_t code_counts;        ///< 16 bytes of counts that never change, the first line among them: for the fingerprint
  uint16_t code_version;       ///< co_version; GMT_PYTHON_NONE: the version has none
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
#ifdef __cplusplus
  bool operator==(const gmt_python_layout &) const = default;
#endif
};
