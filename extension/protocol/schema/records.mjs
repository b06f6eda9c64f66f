// The side records of a log, once. `npm run schema` makes of it the C of native/wire/records.gen.h and the table by which native/trace
// hands records on. What shipped never changes: a number and its fields stay, a new record gets the next number.
//
//   name: [{ number, bytes, writes, takes, behind }, 'its meaning', { field: 'type its meaning' }]
//
// `bytes`: of its struct `gmt_<name>` (`struct`: another name), which the compiler checks · `writes`: the parts that write it · `takes`:
// `merge`, what orders events; `tables`, names and stacks; `model`, where it holds from behind an event on: from behind that of its
// field `sequence`, where it has one, and reaches the model as trace::ModelRecord, unless native/trace has a type of its own for it ·
// `behind`: what follows the struct.

const ALL = 'inject, uprobe, snapshot';

export const records = {
  END_OF_CHUNK: [{ number: 1, bytes: 0, writes: ALL, takes: 'merge' }, 'The rest of the chunk is unused.', {}],
  TIME_BASE: [
    { number: 2, bytes: 16, writes: ALL, takes: 'merge' },
    'From here `time` counts from it.',
    { ticks: 'u64', monotonic_ns: 'u64' },
  ],
  DRIVER_DETAIL: [
    { number: 3, bytes: 48, writes: ALL, takes: 'merge' },
    'About the next event in this chunk.',
    {
      call: 'u16 row of the call table (native/cuda/calls.h), see also gmt_note of the log’s version',
      flags: 'u16 GMT_DETAIL_*',
      result: 'i32 CUresult',
      stream: 'u64',
      object: 'u64 pool handle, or for GMT_MAP the physical handle',
      offset: 'u64 for GMT_MAP the offset in the handle',
      context: 'u64',
      caller: 'u64 gmt_library.id of the caller, outside libcuda, libcudart and CUPTI; 0 = unknown',
    },
  ],
  AUTOGRAD: [
    { number: 4, bytes: 16, writes: 'inject, uprobe', takes: 'merge' },
    'Holds for this thread’s allocations from here to its next one.',
    {
      sequence:
        'u64 forward: the number that the next node of this thread will get; backward: the running node’s number',
      thread: 'u32 low half of torch’s own id of the forward thread (RecordFunction::currentThreadId), 0 = unknown',
      role: 'u32 enum gmt_autograd_role',
    },
  ],
  THREAD: [
    { number: 5, bytes: 8, writes: ALL, takes: 'tables', struct: 'gmt_thread_record', behind: 'name' },
    '',
    {
      tid: 'u32',
      index: 'u16 as in the low 16 bits of `commit`',
      name_bytes: 'u16 UTF-8 behind this struct, from /proc/self/task/TID/comm',
    },
  ],
  CODE: [
    { number: 6, bytes: 24, writes: ALL, takes: 'tables', struct: 'gmt_code_record', behind: 'strings, line table' },
    'A Python code object, copied when it was first seen. Strings and table lie behind the struct in this order.',
    {
      id: 'u32 never 0',
      first_line: 'u32',
      python_version: 'u16 0x030c = 3.12: decides how `line_table` is read; 0: a native function, without lines',
      flags: 'u16 GMT_CODE_*',
      file_bytes: 'u32 UTF-8',
      name_bytes: 'u32 UTF-8; the qualified name where the version has one',
      line_table_bytes: 'u32 co_lnotab (3.9), co_linetable (3.10+)',
    },
  ],
  STACK: [
    { number: 7, bytes: 8, writes: ALL, takes: 'tables', struct: 'gmt_stack_record', behind: 'frames' },
    'A Python stack, innermost frame first; `frames` gmt_frame lie behind the struct.',
    { id: 'u32 never 0', frames: 'u16', flags: 'u16 GMT_STACK_*' },
  ],
  DEVICE: [
    { number: 8, bytes: 16, writes: 'inject, snapshot', takes: 'tables', struct: 'gmt_device_record', behind: 'name' },
    '',
    { device: 'u32', name_bytes: 'u32', total_bytes: 'u64' },
  ],
  PROCESS: [
    { number: 9, bytes: 8, writes: ALL, takes: 'tables', struct: 'gmt_process_record', behind: 'command line' },
    '',
    {
      command_bytes: 'u32 /proc/self/cmdline: arguments end in NUL',
      python_version: 'u32 PY_VERSION_HEX, 0 = no Python in the process',
    },
  ],
  NOTE: [
    { number: 10, bytes: 8, writes: ALL, takes: 'tables', behind: 'text' },
    '',
    { code: 'u32 enum gmt_note_code', text_bytes: 'u32' },
  ],
  NODE: [
    { number: 11, bytes: 16, writes: 'inject, uprobe', takes: 'merge' },
    'An autograd node’s number and the Python stack that made it: a backward allocation with this number belongs to this line.',
    { sequence: 'u64', stack: 'u32', thread: 'u32 as in gmt_autograd.thread' },
  ],
  NAME: [
    { number: 12, bytes: 24, writes: 'inject', takes: 'model', behind: 'text' },
    'What a live block is for. Names hold from this record’s place in its thread’s chunk order: `sequence` is the newest event’s when it was looked at, so that a block that came to the address later does not get it.',
    {
      address: 'u64',
      sequence: 'u64',
      text_bytes: 'u32 UTF-8 behind this struct: `encoder.layers.3.linear1.weight`',
      device: 'u8',
      category: 'u8 enum gmt_category',
      reserved: 'u16',
    },
  ],
  MEMORY: [
    { number: 13, bytes: 40, writes: 'inject', takes: 'model' },
    '',
    {
      ticks: 'u64',
      process_bytes: 'u64 of this process on the device; ~0 = the device does not report it',
      used_bytes: 'u64 of all processes',
      total_bytes: 'u64',
      device: 'u32',
      reserved: 'u32',
    },
  ],
  ANSWER: [
    { number: 14, bytes: 24, writes: 'inject', takes: 'model', behind: 'JSON' },
    'Text that does not fit into a chunk comes in parts with one `request`, in order.',
    {
      sequence: 'u64 the newest event’s when it was looked, as in gmt_name',
      request: 'u32 number of the request that it answers; 0 = without a request (at the end of the process)',
      part: 'u16 from 0',
      parts: 'u16',
      text_bytes: 'u32 JSON behind this struct',
      reserved: 'u32',
    },
  ],
  LIBRARY: [
    { number: 15, bytes: 8, writes: 'inject', takes: 'tables', behind: 'path' },
    'A shared object, or the program itself, that called the driver for memory. As with stacks, an event of another thread may name it a moment before.',
    { id: 'u32 never 0', path_bytes: 'u32 UTF-8 behind this struct' },
  ],
  ALLOCATOR: [
    { number: 16, bytes: 32, writes: 'inject', takes: 'model' },
    'A device’s allocator at the end of a step: a tensor that another stream uses is freed at once (`allocated_bytes` falls), its block is active until that stream has come so far.',
    {
      sequence: 'u64 the newest event’s at the request, as in gmt_name',
      allocated_bytes: 'u64',
      active_bytes: 'u64',
      device: 'u32',
      reserved: 'u32',
    },
  ],
  BLOCK: [
    { number: 17, bytes: 56, writes: 'inject, snapshot', takes: 'model' },
    'About the tensor block that is at `address` then, until it is freed.',
    {
      address: 'u64',
      sequence: 'u64 as in gmt_name',
      asked_bytes: 'u64 GMT_UNKNOWN = not reported; so are the next three',
      stream: 'u64 of its segment: the handle, 0 = the default stream',
      pool_owner: 'u64 PyTorch’s id of the segment’s pool, a pair of numbers: 0, 0 = the pool of all',
      pool_number: 'u64',
      device: 'u32',
      reserved: 'u32',
    },
  ],
  WRITER: [
    { number: 18, bytes: 16, writes: 'inject, uprobe', takes: 'merge' },
    'From here to the end of the chunk this record’s index stands for the thread `number`: the chunk or the index was an ended thread’s before.',
    {
      first_sequence: 'u64 no event behind this record in its chunk has a lower one',
      number:
        'u32 of the process’s threads, in the order in which they began, from 0; of a thread without such a record it is the index',
      reserved: 'u32',
    },
  ],
  BEFORE: [
    { number: 19, bytes: 40, writes: 'inject', takes: 'model', behind: 'gmt_before_block' },
    'What a framework’s allocator had on a device after recording was switched on: all its blocks, or all its segments, in parts. What the trace has from before and is not among them was freed while recording was off.',
    {
      sequence: 'u64 the newest event’s before the request, as in gmt_name',
      reserved_bytes: 'u64 all that it holds of the device',
      device: 'u32',
      stack: 'u32 that stands for the lines of before: gmt_stack_record with GMT_STACK_BEFORE_ATTACH',
      kind: 'u32 GMT_TENSOR_ALLOC: blocks, GMT_DEVICE_ALLOC: segments, 0: that was all',
      count: 'u32 gmt_before_block behind this struct',
      part: 'u16 from 0',
      parts: 'u16',
      reserved: 'u32',
    },
  ],
  MODULE_CALL: [
    { number: 20, bytes: 16, writes: 'inject', takes: 'tables', behind: 'class' },
    'The module (`torch.nn.Module`) whose call is the innermost one in a stack.',
    { module: 'u64 its address', stack: 'u32', class_bytes: 'u32 UTF-8 behind this struct: the name of its class' },
  ],
  MODULE: [
    { number: 21, bytes: 16, writes: 'inject', takes: 'tables', behind: 'path' },
    'Where a module of the program is: `layers.11.mlp`; empty for one that is no other’s.',
    { module: 'u64 as in gmt_module_call', text_bytes: 'u32 UTF-8 behind this struct', reserved: 'u32' },
  ],
  POOL: [
    { number: 22, bytes: 48, writes: 'inject, snapshot', takes: 'model', behind: 'text, u64 addresses' },
    'Segments that a framework’s allocator has in a pool of its own, or GMT_POOL_NO_MORE: what was there by then and is in no record since the last such one is of the pool of all.',
    {
      sequence: 'u64 the newest event’s before the request, as in gmt_name',
      owner: 'u64 PyTorch’s id of the pool, as in gmt_block',
      number: 'u64',
      device: 'u32',
      kind: 'u32 enum gmt_pool_kind',
      makers: 'u32 captured graphs, or MemPools, that still have it',
      text_bytes: 'u32 UTF-8 behind this struct: where the program has one of them',
      count: 'u32 addresses of segments behind the text',
      reserved: 'u32',
    },
  ],
  GENERATED: [
    { number: 23, bytes: 8, writes: 'inject', takes: 'tables', behind: 'text' },
    'What code that a compiler made stands for, from a line of its file on to the next such record of the file. Its text, line by line: the file; the module that it is of, as `.layers.0.up` below the one that was called, `.` itself, or its address, empty where that is not known; each frame of the program, innermost first, as file, line and function with tabs between.',
    { line: 'u32', text_bytes: 'u32 UTF-8 behind this struct' },
  ],
  RANGE: [
    { number: 24, bytes: 16, writes: 'inject, snapshot', takes: 'model', behind: 'name' },
    'A range of NVTX, or an annotation of a memory snapshot, begins in this thread; without a name it ends, and with it what the thread pushed inside it.',
    {
      ticks: 'u64',
      key: 'u32 how many of the thread were open when it was pushed; with GMT_RANGE_STARTED a number: it is not nested, and any thread ends it',
      text_bytes: 'u32 UTF-8 behind this struct',
    },
  ],
};
