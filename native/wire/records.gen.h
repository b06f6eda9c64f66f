#pragma once
// Side records of a log; layout.h includes it. Made by test/project/schema/generate.mjs from extension/protocol/schema; change it there.

enum gmt_side_record_kind {
  GMT_END_OF_CHUNK = 1,  ///< The rest of the chunk is unused.
  GMT_TIME_BASE = 2,  ///< struct gmt_time_base
  GMT_DRIVER_DETAIL = 3,  ///< struct gmt_driver_detail
  GMT_AUTOGRAD = 4,  ///< struct gmt_autograd
  GMT_THREAD = 5,  ///< struct gmt_thread_record
  GMT_CODE = 6,  ///< struct gmt_code_record
  GMT_STACK = 7,  ///< struct gmt_stack_record
  GMT_DEVICE = 8,  ///< struct gmt_device_record
  GMT_PROCESS = 9,  ///< struct gmt_process_record
  GMT_NOTE = 10,  ///< struct gmt_note
  GMT_NODE = 11,  ///< struct gmt_node
  GMT_NAME = 12,  ///< struct gmt_name
  GMT_MEMORY = 13,  ///< struct gmt_memory
  GMT_ANSWER = 14,  ///< struct gmt_answer
  GMT_LIBRARY = 15,  ///< struct gmt_library
  GMT_ALLOCATOR = 16,  ///< struct gmt_allocator
  GMT_BLOCK = 17,  ///< struct gmt_block
  GMT_WRITER = 18,  ///< struct gmt_writer
  GMT_BEFORE = 19,  ///< struct gmt_before
  GMT_MODULE_CALL = 20,  ///< struct gmt_module_call
  GMT_MODULE = 21,  ///< struct gmt_module
  GMT_POOL = 22,  ///< struct gmt_pool
  GMT_GENERATED = 23,  ///< struct gmt_generated
  GMT_RANGE = 24,  ///< struct gmt_range
};

/// From here `time` counts from it.
struct gmt_time_base {
  uint64_t ticks;
  uint64_t monotonic_ns;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_time_base) == 16, "gmt_time_base");

/// About the next event in this chunk.
struct gmt_driver_detail {
  uint16_t call;  ///< row of the call table (native/cuda/calls.h), see also gmt_note of the log’s version
  uint16_t flags;  ///< GMT_DETAIL_*
  int32_t result;  ///< CUresult
  uint64_t stream;
  uint64_t object;  ///< pool handle, or for GMT_MAP the physical handle
  uint64_t offset;  ///< for GMT_MAP the offset in the handle
  uint64_t context;
  uint64_t caller;  ///< gmt_library.id of the caller, outside libcuda, libcudart and CUPTI; 0 = unknown
};
GMT_STATIC_ASSERT(sizeof(struct gmt_driver_detail) == 48, "gmt_driver_detail");

/// Holds for this thread’s allocations from here to its next one.
struct gmt_autograd {
  uint64_t sequence;  ///< forward: the number that the next node of this thread will get; backward: the running node’s number
  uint32_t thread;  ///< low half of torch’s own id of the forward thread (RecordFunction::currentThreadId), 0 = unknown
  uint32_t role;  ///< enum gmt_autograd_role
};
GMT_STATIC_ASSERT(sizeof(struct gmt_autograd) == 16, "gmt_autograd");

/// Behind it: name.
struct gmt_thread_record {
  uint32_t tid;
  uint16_t index;  ///< as in the low 16 bits of `commit`
  uint16_t name_bytes;  ///< UTF-8 behind this struct, from /proc/self/task/TID/comm
};
GMT_STATIC_ASSERT(sizeof(struct gmt_thread_record) == 8, "gmt_thread_record");

/// A Python code object, copied when it was first seen. Strings and table lie behind the struct in this order. Behind it: strings, line table.
struct gmt_code_record {
  uint32_t id;  ///< never 0
  uint32_t first_line;
  uint16_t python_version;  ///< 0x030c = 3.12: decides how `line_table` is read; 0: a native function, without lines
  uint16_t flags;  ///< GMT_CODE_*
  uint32_t file_bytes;  ///< UTF-8
  uint32_t name_bytes;  ///< UTF-8; the qualified name where the version has one
  uint32_t line_table_bytes;  ///< co_lnotab (3.9), co_linetable (3.10+)
};
GMT_STATIC_ASSERT(sizeof(struct gmt_code_record) == 24, "gmt_code_record");

/// A Python stack, innermost frame first; `frames` gmt_frame lie behind the struct. Behind it: frames.
struct gmt_stack_record {
  uint32_t id;  ///< never 0
  uint16_t frames;
  uint16_t flags;  ///< GMT_STACK_*
};
GMT_STATIC_ASSERT(sizeof(struct gmt_stack_record) == 8, "gmt_stack_record");

/// Behind it: name.
struct gmt_device_record {
  uint32_t device;
  uint32_t name_bytes;
  uint64_t total_bytes;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_device_record) == 16, "gmt_device_record");

/// Behind it: command line.
struct gmt_process_record {
  uint32_t command_bytes;  ///< /proc/self/cmdline: arguments end in NUL
  uint32_t python_version;  ///< PY_VERSION_HEX, 0 = no Python in the process
};
GMT_STATIC_ASSERT(sizeof(struct gmt_process_record) == 8, "gmt_process_record");

/// Behind it: text.
struct gmt_note {
  uint32_t code;  ///< enum gmt_note_code
  uint32_t text_bytes;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_note) == 8, "gmt_note");

/// An autograd node’s number and the Python stack that made it: a backward allocation with this number belongs to this line.
struct gmt_node {
  uint64_t sequence;
  uint32_t stack;
  uint32_t thread;  ///< as in gmt_autograd.thread
};
GMT_STATIC_ASSERT(sizeof(struct gmt_node) == 16, "gmt_node");

/// What a live block is for. Names hold from this record’s place in its thread’s chunk order: `sequence` is the newest event’s when it was looked at, so that a block that came to the address later does not get it. Behind it: text.
struct gmt_name {
  uint64_t address;
  uint64_t sequence;
  uint32_t text_bytes;  ///< UTF-8 behind this struct: `encoder.layers.3.linear1.weight`
  uint8_t device;
  uint8_t category;  ///< enum gmt_category
  uint16_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_name) == 24, "gmt_name");

struct gmt_memory {
  uint64_t ticks;
  uint64_t process_bytes;  ///< of this process on the device; ~0 = the device does not report it
  uint64_t used_bytes;  ///< of all processes
  uint64_t total_bytes;
  uint32_t device;
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_memory) == 40, "gmt_memory");

/// Text that does not fit into a chunk comes in parts with one `request`, in order. Behind it: JSON.
struct gmt_answer {
  uint64_t sequence;  ///< the newest event’s when it was looked, as in gmt_name
  uint32_t request;  ///< number of the request that it answers; 0 = without a request (at the end of the process)
  uint16_t part;  ///< from 0
  uint16_t parts;
  uint32_t text_bytes;  ///< JSON behind this struct
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_answer) == 24, "gmt_answer");

/// A shared object, or the program itself, that called the driver for memory. As with stacks, an event of another thread may name it a moment before. Behind it: path.
struct gmt_library {
  uint32_t id;  ///< never 0
  uint32_t path_bytes;  ///< UTF-8 behind this struct
};
GMT_STATIC_ASSERT(sizeof(struct gmt_library) == 8, "gmt_library");

/// A device’s allocator at the end of a step: a tensor that another stream uses is freed at once (`allocated_bytes` falls), its block is active until that stream has come so far.
struct gmt_allocator {
  uint64_t sequence;  ///< the newest event’s at the request, as in gmt_name
  uint64_t allocated_bytes;
  uint64_t active_bytes;
  uint32_t device;
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_allocator) == 32, "gmt_allocator");

/// About the tensor block that is at `address` then, until it is freed.
struct gmt_block {
  uint64_t address;
  uint64_t sequence;  ///< as in gmt_name
  uint64_t asked_bytes;  ///< GMT_UNKNOWN = not reported; so are the next three
  uint64_t stream;  ///< of its segment: the handle, 0 = the default stream
  uint64_t pool_owner;  ///< PyTorch’s id of the segment’s pool, a pair of numbers: 0, 0 = the pool of all
  uint64_t pool_number;
  uint32_t device;
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_block) == 56, "gmt_block");

/// From here to the end of the chunk this record’s index stands for the thread `number`: the chunk or the index was an ended thread’s before.
struct gmt_writer {
  uint64_t first_sequence;  ///< no event behind this record in its chunk has a lower one
  uint32_t number;  ///< of the process’s threads, in the order in which they began, from 0; of a thread without such a record it is the index
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_writer) == 16, "gmt_writer");

/// What a framework’s allocator had on a device after recording was switched on: all its blocks, or all its segments, in parts. What the trace has from before and is not among them was freed while recording was off. Behind it: gmt_before_block.
struct gmt_before {
  uint64_t sequence;  ///< the newest event’s before the request, as in gmt_name
  uint64_t reserved_bytes;  ///< all that it holds of the device
  uint32_t device;
  uint32_t stack;  ///< that stands for the lines of before: gmt_stack_record with GMT_STACK_BEFORE_ATTACH
  uint32_t kind;  ///< GMT_TENSOR_ALLOC: blocks, GMT_DEVICE_ALLOC: segments, 0: that was all
  uint32_t count;  ///< gmt_before_block behind this struct
  uint16_t part;  ///< from 0
  uint16_t parts;
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_before) == 40, "gmt_before");

/// The module (`torch.nn.Module`) whose call is the innermost one in a stack. Behind it: class.
struct gmt_module_call {
  uint64_t module;  ///< its address
  uint32_t stack;
  uint32_t class_bytes;  ///< UTF-8 behind this struct: the name of its class
};
GMT_STATIC_ASSERT(sizeof(struct gmt_module_call) == 16, "gmt_module_call");

/// Where a module of the program is: `layers.11.mlp`; empty for one that is no other’s. Behind it: path.
struct gmt_module {
  uint64_t module;  ///< as in gmt_module_call
  uint32_t text_bytes;  ///< UTF-8 behind this struct
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_module) == 16, "gmt_module");

/// Segments that a framework’s allocator has in a pool of its own, or GMT_POOL_NO_MORE: what was there by then and is in no record since the last such one is of the pool of all. Behind it: text, u64 addresses.
struct gmt_pool {
  uint64_t sequence;  ///< the newest event’s before the request, as in gmt_name
  uint64_t owner;  ///< PyTorch’s id of the pool, as in gmt_block
  uint64_t number;
  uint32_t device;
  uint32_t kind;  ///< enum gmt_pool_kind
  uint32_t makers;  ///< captured graphs, or MemPools, that still have it
  uint32_t text_bytes;  ///< UTF-8 behind this struct: where the program has one of them
  uint32_t count;  ///< addresses of segments behind the text
  uint32_t reserved;
};
GMT_STATIC_ASSERT(sizeof(struct gmt_pool) == 48, "gmt_pool");

/// What code that a compiler made stands for, from a line of its file on to the next such record of the file. Its text, line by line: the file; the module that it is of, as `.layers.0.up` below the one that was called, `.` itself, or its address, empty where that is not known; each frame of the program, innermost first, as file, line and function with tabs between. Behind it: text.
struct gmt_generated {
  uint32_t line;
  uint32_t text_bytes;  ///< UTF-8 behind this struct
};
GMT_STATIC_ASSERT(sizeof(struct gmt_generated) == 8, "gmt_generated");

/// A range of NVTX, or an annotation of a memory snapshot, begins in this thread; without a name it ends, and with it what the thread pushed inside it. Behind it: name.
struct gmt_range {
  uint64_t ticks;
  uint32_t key;  ///< how many of the thread were open when it was pushed; with GMT_RANGE_STARTED a number: it is not nested, and any thread ends it
  uint32_t text_bytes;  ///< UTF-8 behind this struct
};
GMT_STATIC_ASSERT(sizeof(struct gmt_range) == 16, "gmt_range");
