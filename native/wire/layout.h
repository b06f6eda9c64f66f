#pragma once
// The layout of one process's trace log. C11: compiled by C++, by `clang -target bpf` and by tests.
//
//   offset 0            64 KiB               320 KiB
//   | file header 64 KiB | chunk 0, 256 KiB   | chunk 1, 256 KiB   | ...
//
// The file is sparse and grows by whole chunks. A thread reserves a chunk by adding 1 to
// `chunks_reserved`, backs it with disk space, and is then the only writer in it, so no lock is needed.
// A chunk is its header and 32-byte slots, in the order of writing:
//
//   | chunk header 64 B | slot | slot | ... up to 8190 slots | unwritten: all zero |
//
// A slot is either an event (bit 63 of its first word is clear) or the first slot of a side record (bit 63
// set), which owns the `slots - 1` slots behind it. The first word is stored last, with release order: zero
// means "not written yet", so a reader may follow while the file grows, and a killed process loses nothing it
// had committed.
#include <stdint.h>

#define GMT_LOG_MAGIC 0x314c4d454d555047ull /* the bytes "GPUMEML1" */
#define GMT_LOG_VERSION 2u
#define GMT_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define GMT_FILE_HEADER_BYTES 65536u
#define GMT_CHUNK_BYTES 262144u
#define GMT_CHUNK_HEADER_BYTES 64u
#define GMT_SLOT_BYTES 32u
#define GMT_SLOTS_PER_CHUNK ((GMT_CHUNK_BYTES - GMT_CHUNK_HEADER_BYTES) / GMT_SLOT_BYTES)
#define GMT_LOG_SUFFIX ".gmtlog"
#define GMT_MAX_FRAMES 128u

#ifdef __cplusplus
#define GMT_STATIC_ASSERT static_assert
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define GMT_STATIC_ASSERT _Static_assert
#else
#define GMT_STATIC_ASSERT(what, why)
#endif

/// Why something is missing from the log. `gmt_file_header.lost` counts by these; a reader adds its own causes.
enum gmt_loss {
  GMT_LOST_DISK_FULL = 0,    ///< no space for another chunk
  GMT_LOST_BUDGET = 1,       ///< the log reached its size limit (GPU_MEMTRACE_BUDGET)
  GMT_LOST_REENTRANT = 2,    ///< the event came from inside the tracer on the same thread
  GMT_LOST_THREADS = 3,      ///< more than 65,536 threads at once
  GMT_LOST_RECORD_SIZE = 4,  ///< a side record that does not fit into a chunk
  GMT_LOST_STACK_TABLE = 5,  ///< the table of stacks is full; the event is there, without its stack
  GMT_LOST_UNSUPPORTED = 6,  ///< a driver call whose arguments the tracer cannot read
  GMT_LOST_DRIVER_GAP = 7,   ///< the driver layer was not recorded for an interval (see GMT_GAP_BEGIN)
  GMT_LOST_RING = 8,         ///< no room between the kernel and the tracer that attached from outside
  GMT_LOST_MAP = 9,          ///< no room in the kernel for one more process or thread that such a tracer follows
  GMT_LOST_FILE_LIMIT = 10,  ///< the traced process may not write files as big (RLIMIT_FSIZE, `ulimit -f`)
  GMT_LOST_LOG_FILE = 11,    ///< the log could not be opened any more: it is gone, or no descriptor is free
  GMT_LOST_STACK = 12,       ///< memory that cannot be read, or no room; the event is there, without its stack or node
  GMT_LOST_NAME = 13,        ///< the table of functions is full; the stack is there, a frame of it has no name
  GMT_LOST_CAUSES = 16,
};

/// What the driver layer is recorded with. Older logs may have 2, which is read as none.
enum gmt_driver_source { GMT_DRIVER_NONE = 0, GMT_DRIVER_CUPTI = 1, GMT_DRIVER_UPROBE = 3 };

enum gmt_clock { GMT_CLOCK_MONOTONIC_NS = 0, GMT_CLOCK_TSC = 1 };

/// First 4096 bytes of the file; the rest up to GMT_FILE_HEADER_BYTES is zero.
struct gmt_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint32_t chunk_bytes;
  uint32_t slot_bytes;
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t uid;
  uint32_t clock;        ///< enum gmt_clock: unit of every `ticks` field
  uint64_t start_ticks;  ///< start_ticks, start_monotonic_ns and start_realtime_ns name the same moment
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t latest_ticks;  ///< a later pair of the two clocks, renewed with each chunk; 0 until then
  uint64_t latest_monotonic_ns;
  uint32_t driver_source;  ///< enum gmt_driver_source
  uint32_t simulated;      ///< 1: the driver under it is the project's simulator
  uint64_t process_start;  ///< field 22 of /proc/PID/stat: distinguishes two processes of one pid
  uint8_t reserved0[32];
  // From here on written while the process runs.
  uint64_t chunks_reserved;  ///< atomic; chunks handed out (a full disk leaves the last ones without a header)
  uint64_t next_sequence;    ///< atomic; the sequence that the next event gets; starts at 1
  uint64_t ended;            ///< 1 once the process ended in order (atexit)
  uint64_t thread_count;     ///< atomic; threads that wrote so far
  // Written by the recorder (native/recorder), each atomic; 0 where there is none. Events from `kept_sequence` on and before
  // `gone_sequence` are not kept: what they made is in the checkpoints beside the log.
  uint64_t chunk_limit;       ///< up to which `chunks_reserved` may rise; 0 = the process's own limit holds
  uint64_t kept_chunks;       ///< the first chunks stay, and in them
  uint64_t kept_sequence;     ///< all events before this one,
  uint64_t kept_ns;           ///< which are those up to this session time
  uint64_t gone_sequence;     ///< stored before the first chunk of these events is freed,
  uint64_t cleared_sequence;  ///< and the same once the last one is
  uint8_t reserved1[48];
  uint64_t lost[GMT_LOST_CAUSES];  ///< atomic; enum gmt_loss
};

struct gmt_chunk_header {
  uint32_t magic;  ///< GMT_CHUNK_MAGIC, stored last with release order
  uint32_t index;
  uint64_t first_sequence;  ///< every event in this chunk has a sequence >= this
  uint64_t base_ticks;      ///< time base of the first events, see gmt_event.time
  uint64_t monotonic_ns;    ///< the moment of base_ticks by CLOCK_MONOTONIC
  uint8_t reserved[32];
};

#define GMT_SIDE_RECORD_BIT (1ull << 63)

/// One allocation, free or mark. Each sequence from 1 up belongs to exactly one event of the process: one that never appears is an
/// event that was lost between being counted and being written.
struct gmt_event {
  uint64_t commit;   ///< sequence << 16 | thread index
  uint64_t address;  ///< address or handle; 0 where there is none
  uint64_t size;     ///< gmt_size_field(bytes) << 16 | device << 8 (255 = none or host) | enum gmt_kind (| GMT_FAILED)
  uint32_t stack;    ///< stack id (gmt_stack_record.id), 0 = none
  uint32_t time;     ///< ticks since the chunk's time base: base_ticks, or the last GMT_TIME_BASE before this slot
};

#define GMT_DEVICE_NONE 255u

/// 48 bits for any number of bytes. Below GMT_SIZE_EXACT they are the number itself; from there on, sizes that are only ever asked
/// for, its highest bit (5 bits, from 2^47) and the 11 bits below that.
#define GMT_SIZE_EXACT 0xffffffff0000ull
static inline uint64_t gmt_size_field(uint64_t bytes) {
  if (bytes < GMT_SIZE_EXACT) return bytes;
  const unsigned exponent = 63 - (unsigned)__builtin_clzll(bytes);
  return GMT_SIZE_EXACT | (uint64_t)(exponent - 47) << 11 | (bytes >> (exponent - 11) & 0x7ff);
}
static inline uint64_t gmt_size_bytes(uint64_t field) {
  if (field < GMT_SIZE_EXACT) return field;
  const unsigned above = (unsigned)(field >> 11 & 0x1f);
  return (0x800 | (field & 0x7ff)) << (36 + (above < 16 ? above : 16));  // more is damage
}

/// What an event means. Ranges: 1-15 tensor layer, 16-63 driver layer, 64-79 marks.
enum gmt_kind {
  GMT_TENSOR_ALLOC = 1,  ///< bytes = the rounded block that the framework hands out
  GMT_TENSOR_FREE = 2,   ///< bytes = what the framework says it frees; only a sample of a thread's have their stack
  GMT_TENSOR_OOM = 3,    ///< the framework could not allocate `bytes`
  GMT_RESERVED = 4,      ///< `bytes` = what the framework's allocator holds on `device` from here on

  GMT_DEVICE_ALLOC = 16,     ///< cuMemAlloc, cuMemAllocPitch
  GMT_MANAGED_ALLOC = 17,    ///< cuMemAllocManaged
  GMT_ASYNC_ALLOC = 18,      ///< cuMemAllocAsync, cuMemAllocFromPoolAsync
  GMT_ARRAY_ALLOC = 19,      ///< cuArrayCreate, cuArray3DCreate, cuMipmappedArrayCreate; address = handle
  GMT_HOST_ALLOC = 20,       ///< pinned host memory
  GMT_HOST_REGISTER = 21,    ///< host memory pinned in place
  GMT_PHYSICAL_CREATE = 22,  ///< cuMemCreate; address = handle
  GMT_IMPORT = 23,  ///< memory that another process or API owns, mapped here: never counted as this process's bytes
  GMT_GRAPH_ALLOC = 24,  ///< a graph's memory node (also cuMemAllocAsync on a capturing stream)
  GMT_FREE = 32,         ///< cuMemFree, cuMemFreeAsync: ends any of 16, 17, 18
  GMT_ARRAY_FREE = 33,
  GMT_HOST_FREE = 34,
  GMT_HOST_UNREGISTER = 35,
  GMT_PHYSICAL_RELEASE = 36,  ///< drops one reference of the handle
  GMT_IMPORT_CLOSE = 37,
  GMT_GRAPH_FREE = 38,
  GMT_PHYSICAL_RETAIN = 40,  ///< one more reference; address = handle
  GMT_MAP = 41,              ///< address = first byte; the handle is in the driver record
  GMT_UNMAP = 42,            ///< may end several maps
  GMT_ADDRESS_RESERVE = 43,  ///< address space only, no memory
  GMT_ADDRESS_FREE = 44,
  GMT_POOL_CREATE = 45,
  GMT_POOL_DESTROY = 46,
  GMT_POOL_TRIM = 47,
  GMT_CONTEXT_DESTROY = 48,  ///< all driver memory of context `address` on `device` is gone
  GMT_DEVICE_RESET = 49,     ///< all driver memory of `device` is gone
  GMT_FREE_UNDONE = 50,      ///< the free of `address` recorded last did not happen; `bytes` = kind of that free

  GMT_RECORDING_START = 64,  ///< recording was switched on (also the first event of every log)
  GMT_RECORDING_STOP = 65,   ///< recording was switched off: what happens until the next start is unknown
  GMT_GAP_BEGIN = 66,        ///< the driver layer is blind from here
  GMT_GAP_END = 67,
  GMT_PROCESS_ENDING = 68,  ///< it shuts down: later frees are clean-up; what lives here lived to the end
  GMT_STEP = 69,            ///< a training step ended; `address` = its number from 1, `stack` = where
  GMT_GC_BEGIN = 70,  ///< Python's collector starts; `address` = generation. Until its end it makes this thread's frees
  GMT_GC_END = 71,    ///< `address` = objects it collected
  GMT_USER_MARK = 72,  ///< set by a person; `address` = its number
  /// The program's own code has ended: what follows is the tracer's last look and Python's clean-up. `address` = processor time of the
  /// main thread since the newest event before, ns.
  GMT_PYTHON_ENDING = 73,
};
/// Memory of the host, which belongs to no device, begins or ends.
static inline int gmt_is_host(uint8_t kind) {
  return kind == GMT_HOST_ALLOC || kind == GMT_HOST_REGISTER || kind == GMT_HOST_FREE || kind == GMT_HOST_UNREGISTER;
}

#define GMT_FAILED 0x80u  ///< or-ed into kind: the call failed and changed nothing (an allocation that got no memory)

/// Side records: describe things, have no place in the order of events. Total length = slots * 32 bytes.
struct gmt_side_record {
  uint64_t commit;  ///< GMT_SIDE_RECORD_BIT | thread index
  uint8_t kind;     ///< enum gmt_side_record_kind
  uint8_t flags;
  uint16_t slots;  ///< this one included
  uint32_t bytes;  ///< of the payload, which begins at offset 16 of this slot
  uint8_t payload[16];
};

#include "records.gen.h"

#define GMT_DETAIL_CAPTURING 1u  ///< the stream was being captured
#define GMT_DETAIL_FREE 2u       ///< `offset` is what was free on the device

enum gmt_autograd_role { GMT_AUTOGRAD_NONE = 0, GMT_AUTOGRAD_FORWARD = 1, GMT_AUTOGRAD_BACKWARD = 2 };
#define GMT_SEQUENCE_ACCUMULATE (~0ull)  ///< AccumulateGrad nodes carry this number

enum gmt_category {
  GMT_CATEGORY_OTHER = 0,
  GMT_CATEGORY_PARAMETER = 1,
  GMT_CATEGORY_GRADIENT = 2,
  GMT_CATEGORY_OPTIMIZER = 3,
  GMT_CATEGORY_BUFFER = 4,  ///< a module's buffer
  GMT_CATEGORY_ACTIVATION = 5,
  GMT_CATEGORY_WORKSPACE = 6,
  GMT_CATEGORY_UNNAMED = 7,  ///< it has a text alone
};

enum gmt_pool_kind {
  GMT_POOL_PRIVATE = 0,  ///< of an unknown owner
  GMT_POOL_GRAPH = 1,    ///< captured CUDA graphs
  GMT_POOL_MEMPOOL = 2,  ///< torch.cuda.MemPool
  GMT_POOL_NO_MORE = 3,
};

#define GMT_UNKNOWN (~0ull)
#define GMT_RANGE_STARTED 0x80000000u  ///< in gmt_range.key
#define GMT_MOST_RANGE_NAME 96u        ///< bytes of one: what is longer is cut

#define GMT_CODE_CUT 1u  ///< the line table did not fit: lines fall back to first_line

#define GMT_STACK_CUT 1u            ///< deeper than GMT_MAX_FRAMES: the outermost frames are missing
#define GMT_STACK_BEFORE_ATTACH 2u  ///< the allocation was made before the recording began; mostly without frames

/// Of the allocation that stands for all that was there before the tracer came: a tensor's unmatched free is a part of its device's.
#define GMT_EARLIER_ADDRESS 1ull

struct gmt_frame {
  uint32_t code;    ///< gmt_code_record.id
  uint32_t offset;  ///< byte offset of the instruction in the code, as PyCode_Addr2Line takes it; 0xffffffff
                    ///< = before the first
};

struct gmt_before_block {
  uint64_t address;
  uint64_t bytes;
};

enum gmt_note_code {
  GMT_NOTE_PYTHON_UNSUPPORTED = 1,
  GMT_NOTE_NO_CUPTI = 2,
  GMT_NOTE_CUPTI_TAKEN = 3,
  GMT_NOTE_CUPTI_PATH = 4,
  GMT_NOTE_TORCH = 5,
  GMT_NOTE_AUTOGRAD_UNREADABLE = 6,
  GMT_NOTE_CHAINED = 7,
  GMT_NOTE_STEPS = 8,           ///< text: what a step is here (`optimizer`, `program`)
  GMT_NOTE_AGENT = 9,           ///< text: why the agent is not in the process
  GMT_NOTE_ATTACHED = 10,       ///< the tracer came to a running process; text: what that held by then
  GMT_NOTE_SNAPSHOT = 11,       ///< the trace was made of a PyTorch memory snapshot
  GMT_NOTE_SNAPSHOT_GAPS = 12,  ///< text: what its history lacks
  GMT_NOTE_STARTED = 13,        ///< recording was switched on; text: what is known of what was there before
  GMT_NOTE_LOOKS = 15,          ///< text: what is only looked at now and then
  GMT_NOTE_LEAN = 14,           ///< text: what is left out (GPU_MEMTRACE_LEAN=1)
  GMT_NOTE_CELL =
      16,  ///< text: of a notebook's cell that ran when it began and ended (ms since 1970), its number, its file
  GMT_NOTE_JOB = 17,         ///< text: lines NAME=value: the process's place in its job (native/inject/job.h)
  GMT_NOTE_RECOMPILED = 18,  ///< text: milliseconds since 1970, then what torch.compile compiled again, and why
  GMT_NOTE_GRAPHS = 19,      ///< text: that PyTorch does not show what its graphs hold
};

/// `control` in the trace directory: 64 bytes, mapped by every traced process; the launcher writes it.
#define GMT_CONTROL_MAGIC 0x4c54434du /* "MCTL" */
struct gmt_control {
  uint32_t magic;
  uint32_t version;     ///< 1
  uint32_t recording;   ///< atomic; 1 = record, 0 = do not
  uint32_t generation;  ///< atomic; +1 with each change
  // While recording is off, a process that comes so far switches it on; 0 = nothing does.
  uint64_t start_step;      ///< atomic; it ends so many training steps
  uint64_t start_reserved;  ///< atomic; the framework's allocator holds more bytes of a GPU
  uint8_t reserved[32];
};

GMT_STATIC_ASSERT(sizeof(struct gmt_file_header) == 384, "file header");
GMT_STATIC_ASSERT(__builtin_offsetof(struct gmt_file_header, chunks_reserved) == 128, "running fields");
GMT_STATIC_ASSERT(__builtin_offsetof(struct gmt_file_header, lost) == 256, "loss counters");
GMT_STATIC_ASSERT(sizeof(struct gmt_chunk_header) == GMT_CHUNK_HEADER_BYTES, "chunk header");
GMT_STATIC_ASSERT(sizeof(struct gmt_event) == GMT_SLOT_BYTES, "event");
GMT_STATIC_ASSERT(sizeof(struct gmt_side_record) == GMT_SLOT_BYTES, "side record");
GMT_STATIC_ASSERT(__builtin_offsetof(struct gmt_side_record, payload) == 16, "payload");
GMT_STATIC_ASSERT(sizeof(struct gmt_frame) == 8, "frame");
GMT_STATIC_ASSERT(sizeof(struct gmt_control) == 64, "control");
