#pragma once
// What the BPF programs (trace.bpf.c) and the program that loads them share: records of the ring buffer, values of the maps.
// C11, compiled by `clang -target bpf` behind vmlinux.h and by C++. All numbers are the machine's own: both sides run on it.
#include <stdint.h>

#include "autograd_ring.h"

/// First byte of every record.
enum gmt_up_type {
  GMT_UP_THREAD = 1,      ///< gmt_up_thread: a thread's first event; comes before any record that names its number
  GMT_UP_ENTRY = 2,       ///< gmt_up_call: a call that ends memory begins
  GMT_UP_RETURN = 3,      ///< gmt_up_call: a call returned
  GMT_UP_TENSOR = 4,      ///< gmt_up_tensor
  GMT_UP_TENSOR_OOM = 5,  ///< gmt_up_tensor
  GMT_UP_CONTEXT = 6,     ///< gmt_up_context: a context's device became known, or a context was made or ended
  GMT_UP_LIBRARIES = 7,   ///< gmt_up_process: the dynamic linker mapped or unmapped libraries
  GMT_UP_FORK = 8,        ///< gmt_up_process: a traced process made a process
  GMT_UP_EXEC = 9,        ///< gmt_up_process: a traced process runs another program from here on
  GMT_UP_EXIT = 10,       ///< gmt_up_process: the last thread of a traced process ended
  GMT_UP_ENDING = 11,     ///< gmt_up_process: the process began to end in order
  GMT_UP_SELF_TEST = 12,  ///< gmt_up_head alone
  GMT_UP_NODE = 13,       ///< gmt_up_node: an autograd node got its number
  // 32 to 63: records of the Python walk (python_walk.bpf.h, python_records.h)
  GMT_UP_PYTHON_FIRST = 32,
  GMT_UP_PYTHON_LAST = 63,
};

struct gmt_up_head {
  uint8_t type;     ///< enum gmt_up_type
  uint8_t row;      ///< of the call table (cuda/calls.h), or of the table of contexts' calls
  uint16_t flags;   ///< by type
  uint32_t thread;  ///< number of the thread, from 1; 0 where none is meant
  uint64_t time;    ///< CLOCK_MONOTONIC, ns
  uint64_t stack;   ///< what gmt_python_stack gave; 0 = none
};

/// Pids and tids are those of the tracer's own PID namespace, `host_*` those of the first one, which BPF sees.
struct gmt_up_thread {
  struct gmt_up_head head;
  uint32_t host_pid;
  uint32_t pid;
  uint32_t tid;
  uint32_t reserved;
  char name[16];
};

#define GMT_UP_LEFT 0x10000u  ///< GMT_UP_EXIT: it runs with others' rights from here on and is not followed any more
#define GMT_UP_LOSSES 4       ///< of enum gmt_up_loss

struct gmt_up_process {
  struct gmt_up_head head;
  uint64_t lost[GMT_UP_LOSSES];  ///< of the process so far
  uint32_t host_pid;
  uint32_t pid;
  uint32_t about;  ///< FORK: pid of the maker; EXIT: status as of wait(); EXEC, LIBRARIES: 1 = it waits for SIGCONT
  uint32_t reserved;
};

#define GMT_UP_ARGS 6         ///< arguments that travel in registers
#define GMT_UP_OUTS 2         ///< results behind pointers
#define GMT_UP_UNREAD 1u      ///< head.flags of a return: its results could not be read
#define GMT_UP_SMALL_WORDS 4  ///< of the record that most calls fit into
#define GMT_UP_COPIED 136     ///< most bytes of a struct behind a pointer

/// `words` holds the arguments, then the results, then the struct's bytes.
struct gmt_up_call {
  struct gmt_up_head head;
  struct gmt_up_running node;  ///< of a call that returned
  uint64_t context;            ///< current context, 0 = not known
  int32_t result;
  uint8_t args;
  uint8_t outs;
  uint16_t copied;
  uint64_t words[GMT_UP_ARGS + GMT_UP_OUTS + GMT_UP_COPIED / 8];
};

/// head.flags: c10::Device (type in the low byte, index in the high one).
struct gmt_up_tensor {
  struct gmt_up_head head;
  uint64_t address;
  int64_t bytes;       ///< < 0: freed
  uint64_t reserved;   ///< ~0 = not reported
  uint64_t allocated;  ///< handed out on the device behind this event; ~0 = not reported
  struct gmt_up_running node;
};

/// head.stack: the Python stack that made the node. A number that comes again on its thread says more than before.
struct gmt_up_node {
  struct gmt_up_head head;
  uint64_t sequence;
  uint32_t thread;  ///< torch's id of the thread, 0 = it has none yet
  uint32_t reserved;
};

#define GMT_UP_RETAINED 1u  ///< head.flags: one more reference of a primary context

struct gmt_up_context {
  struct gmt_up_head head;
  uint64_t context;
  int32_t device;
  uint32_t reserved;
};

#define GMT_UP_NO_ARGUMENT 0xff
#define GMT_UP_MOST_ROWS 64

/// What BPF copies of one call; made from the call table by the program that loads it.
struct gmt_up_row {
  uint8_t ends;              ///< 1: recorded at entry, and at return only where it failed
  uint8_t args;              ///< arguments that travel in registers
  uint8_t address;           ///< argument that a call which ends memory must have; else GMT_UP_NO_ARGUMENT
  uint8_t outs;              ///< results to read
  uint8_t out[GMT_UP_OUTS];  ///< arguments that point at them
  uint8_t copied_argument;   ///< argument that points at a struct, or GMT_UP_NO_ARGUMENT
  uint8_t copied;            ///< bytes of it, a multiple of 8
  uint8_t small;             ///< 1: GMT_UP_SMALL_WORDS words hold the arguments and results
};

/// What a call says of the thread's current context, or of a context's device.
enum gmt_up_context_op {
  GMT_UP_CONTEXT_SET = 1,   ///< argument 0 is current from here on
  GMT_UP_CONTEXT_PUSH = 2,  ///< as SET, and the one before comes back with POP
  GMT_UP_CONTEXT_POP = 3,
  GMT_UP_CONTEXT_CREATE = 4,      ///< *argument 0 is made on device argument `device` and current
  GMT_UP_CONTEXT_RETAIN = 5,      ///< *argument 0 is the primary context of device argument `device`
  GMT_UP_CONTEXT_GET = 6,         ///< *argument 0 is current
  GMT_UP_CONTEXT_GET_DEVICE = 7,  ///< *argument 0 is the device of the current one
};
/// Cookie of a probe on such a call: op | argument with the device << 8.

/// Cookies of the probes on PyTorch's reports.
enum gmt_up_report {
  GMT_UP_REPORT = 0,      ///< (address, ±bytes, allocated, reserved, device)
  GMT_UP_REPORT_OOM = 1,  ///< (bytes, allocated, reserved, device)
};

/// Why BPF could not hand over an event.
enum gmt_up_loss {
  GMT_UP_LOST_RING = 0,  ///< no room in the ring buffer
  GMT_UP_LOST_MAP = 1,   ///< no room in a map
  GMT_UP_LOST_STACK =
      2,  ///< the event is there, without its Python stack: no room for it, or memory that cannot be read
  GMT_UP_LOST_CALL = 3,  ///< calls that seemed to be parts of one that had been left by a jump
};

struct gmt_up_set_interpreter {
  uint32_t host_pid;
  uint32_t interpreter;
};

#define GMT_UP_READ_BYTES 16384u

/// A wish of the tracer, and its answer.
struct gmt_up_read {
  uint64_t address;
  uint32_t bytes;
  uint32_t done;
  int32_t result;  ///< 0: all of it is in `data`
  uint32_t reserved;
  uint8_t data[GMT_UP_READ_BYTES];
};

/// Value of the map of traced processes, by host pid.
struct gmt_up_target {
  uint64_t lost[GMT_UP_LOSSES];  ///< atomic
  uint32_t pid;
  uint32_t children;     ///< 1: processes that it makes are traced too
  uint32_t uid;          ///< a program that runs as another user is not followed, ~0 = all are
  uint32_t ending;       ///< 1: it was reported that the process ends
  uint32_t active;       ///< 1: it used GPU memory while recorded
  uint32_t interpreter;  ///< place in the map of interpreters, 0 = none (python_walk.bpf.h)
};
