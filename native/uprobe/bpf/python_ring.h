#pragma once
// What the Python walk in BPF (python_walk.bpf.h) and the program that loads it share: where an interpreter keeps things, and the
// records that describe a stack. C11, compiled by `clang -target bpf` and by C++.
#include "python/python_layout.h"
#include "uprobe/bpf/ring.h"
#include "wire/layout.h"

/// Value of the map of interpreters. Addresses are the traced process's own; a forked child has the same ones.
/// Offsets are in bytes; the walk masks them, so a wrong one reads wrong bytes and nothing else.
struct gmt_python_interpreter {
  uint64_t runtime;      ///< &_PyRuntime; 0 = place not in use
  uint64_t code_type;    ///< &PyCode_Type
  uint32_t version;      ///< PY_VERSION_HEX
  uint32_t thread_key;   ///< _PyRuntime: Py_tss_t of the thread states
  uint32_t first_block;  ///< C library: from a thread's pointer to its first block of thread data
  uint32_t blocks;       ///< C library: from a thread's pointer to the pointers to all its blocks
  uint16_t thread_id;    ///< PyThreadState: pthread_t of the thread
  uint16_t thread_read;  ///< so many bytes of a PyThreadState hold all that is read of one,
  uint16_t frame_read;   ///< of a frame,
  uint16_t code_read;    ///< of a code object
  struct gmt_python_layout at;
  uint16_t reserved[3];
};

// No read takes more than this.
#define GMT_PYTHON_THREAD_BYTES 256
#define GMT_PYTHON_FRAME_BYTES 128
#define GMT_PYTHON_CODE_BYTES 256

// Longest texts and tables that are copied. A file name of 4096 bytes of UTF-8 is at most so many characters.
#define GMT_PYTHON_FILE_CHARACTERS 4096
#define GMT_PYTHON_NAME_CHARACTERS 1024
#define GMT_PYTHON_TABLE_BYTES 65536
#define GMT_PYTHON_PART_BYTES 1024

/// Types of records, in gmt_up_head.type. A thread queues a code object's record, its parts, and then the stack that needed it.
enum gmt_up_python_type {
  GMT_UP_PYTHON_CODE = 32,   ///< gmt_up_python_code
  GMT_UP_PYTHON_PART = 33,   ///< gmt_up_python_part, of the thread's last code object
  GMT_UP_PYTHON_STACK = 34,  ///< gmt_up_python_stack
  GMT_UP_NATIVE_STACK = 35,  ///< gmt_up_native_stack
};

enum gmt_python_part_of { GMT_PART_FILE = 0, GMT_PART_NAME = 1, GMT_PART_TABLE = 2, GMT_PARTS = 3 };

/// A code object at first sight. `bytes` of each part follow in records of their own.
struct gmt_up_python_code {
  struct gmt_up_head head;  ///< stack: the code object's key
  uint32_t first_line;
  uint32_t version;           ///< PY_VERSION_HEX
  uint32_t bytes[GMT_PARTS];  ///< as they will come
  uint8_t width[2];           ///< bytes of a character of file and name
  uint8_t table_cut;          ///< 1: the line table is too long, and left out
  uint8_t
      text_unread;  ///< bit 0, 1: file, name is a str whose characters lie elsewhere (made by long deprecated functions)
};

struct gmt_up_python_part {
  struct gmt_up_head head;  ///< stack: the code object's key
  uint32_t part;            ///< enum gmt_python_part_of
  uint32_t offset;          ///< bytes
  uint32_t bytes;           ///< of `data`; the record ends behind them
  uint32_t reserved;
  uint8_t data[GMT_PYTHON_PART_BYTES];
};

struct gmt_python_frame {
  uint64_t code;    ///< the code object's key
  uint32_t offset;  ///< of the instruction, as in gmt_frame
  uint32_t reserved;
};

struct gmt_up_python_stack {
  struct gmt_up_head head;  ///< stack: the hash
  uint32_t depth;           ///< of `frames`, innermost first; the record ends behind them
  uint32_t cut;             ///< 1: deeper than GMT_MAX_FRAMES
  struct gmt_python_frame frames[GMT_MAX_FRAMES];
};

/// Of a thread without a Python stack.
struct gmt_up_native_stack {
  struct gmt_up_head head;  ///< stack: the hash
  uint32_t depth;           ///< of `addresses`, innermost first; the record ends behind them
  uint32_t cut;
  uint64_t addresses[GMT_MAX_FRAMES];
};

GMT_STATIC_ASSERT(sizeof(struct gmt_python_interpreter) == 88, "value of a BPF map");
GMT_STATIC_ASSERT(sizeof(struct gmt_up_head) == 24, "the walk's records begin with it");
GMT_STATIC_ASSERT(sizeof(struct gmt_up_python_code) == 48, "record");
GMT_STATIC_ASSERT(sizeof(struct gmt_up_python_part) == 40 + GMT_PYTHON_PART_BYTES, "record");
GMT_STATIC_ASSERT(sizeof(struct gmt_up_python_stack) == 32 + 16 * GMT_MAX_FRAMES, "record");
GMT_STATIC_ASSERT(sizeof(struct gmt_up_native_stack) == 32 + 8 * GMT_MAX_FRAMES,
                  "record, made in the place of the last");
