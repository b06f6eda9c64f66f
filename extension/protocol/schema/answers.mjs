// Every field of an answer, once: its type, its meaning, and what the table shows of it. `npm run schema` makes of it the
// TypeScript types, accessors and columns, and the C++ structs and what packs them.
//
//   name: 'type Its meaning.', or [that, options]
//
// Types, as C++ / in a row of TypeScript / as a column:
//   u8 u16 u32 i32 f64   a number; a typed array of that type (of an i32 for u16)
//   u64 i64 step         a number; a Float64Array (exact to 2^53)
//   bits                 uint64_t, a bigint; a BigUint64Array
//   text key             a string; strings. A key is a uint64_t, shown as 16 hexadecimal digits
//   a name of enums.mjs  the enum, its word; words (`index`: a number; a Uint8Array)
// Options: `init` its first value in C++; `from` an expression of C++, for `row`, where the struct is no made one; `each` so many values
// a row; `known` C++: without it the value is NaN; `part` of the struct of figures; `sort` a figure that rows can be sorted by;
// `column` of the table: its hint is the first sentence; `inside` of C++ alone.

const past = { sort: true, known: 'row.has_history' };
const some = { part: true, init: -1 };

export const windows = {
  Site: {
    doc: 'A row of live memory: a site, or a group of them.',
    window: 'A window of rows; each array has `rows` entries.',
    rows: 'SiteRows',
    figures: 'SiteFigures',
    head: {
      sumLiveBytes: 'i64 Sums over all rows that match, not only the window’s.',
      sumLiveCount: 'i64',
    },
    fields: {
      id: 'u32 The site’s id for groupBy `site`, else the id of the group’s biggest site.',
      key: 'key `Site.key` of that site.',
      liveBytes: [
        'i64 Live bytes.',
        { sort: true, column: { id: 'live', title: 'Live', choice: 'Live bytes', px: [92, 74] } },
      ],
      liveCount: [
        'i64 Live blocks.',
        { sort: true, column: { id: 'count', title: 'Blocks', choice: 'Live blocks', px: [72, 46] } },
      ],
      meanBytes: ['f64 Mean size of the live blocks.', { sort: true, column: { id: 'mean', title: 'Mean block' } }],
      peakBytes: [
        'i64 Highest live bytes at any one time; of a function, file or thread with several lines, at least this. Exact for a whole site or line, and for a process or device alone on its layer; for sums of ' +
          'several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one ' +
          'maker).',
        { ...past, column: { id: 'peak', title: 'Peak' } },
      ],
      allocations: ['u64 Allocations so far.', { ...past, column: { id: 'allocations', title: 'Allocations' } }],
      frees: ['u64 Frees so far.', { ...past, column: { id: 'frees', title: 'Frees', px: [76, 70] } }],
      allocatedBytes: [
        'u64 All bytes ever allocated.',
        { ...past, column: { id: 'allocated', title: 'Total allocated', px: [112, 104] } },
      ],
      growth: ['f64 Least-squares slope of live bytes over the recent past, bytes a second.', past],
      hasHistory: ['bool False: of the row only what lives is known.', { inside: true, init: true }],
      spark: [
        'f64 Live bytes at the ends of 16 steps at equal distances, the last as it is now, for a spark line; where no steps are known, at the ends of 16 equal spans of the run so far.',
        { each: 16, known: 'row.has_history' },
      ],
      thread: ['i32 Thread index within `process`, -1 = several.', some],
      process: ['i32 -1 = several.', some],
      device: ['i32 -1 = host, none or several.', some],
      file: 'text Of the user frame, or the innermost one. Line 0 and empty file: no Python line.',
      line: 'u32',
      function: 'text',
      source: ['LineSource', { init: 'LineSource::None' }],
      library: 'text `Site.library` of that site.',
      label:
        'text Name of the group as text (thread `python:123`, process `train.py (123)`, device `gpu_0`, else `file:line`, or the ' +
        'library’s file name where there is no line).',
    },
  },
  Allocation: {
    doc: 'A live block.',
    rows: 'AllocationRows',
    head: { sumBytes: 'i64 Without memory that other processes own.' },
    fields: {
      address: 'bits',
      bytes: 'u64',
      device: 'i32',
      process: ['u32 Index of the process.', { array: 'Int32Array' }],
      thread: 'u32',
      layer: 'Layer',
      site: 'u32',
      timeNs: 'u64',
      stream: ['bits Handle; `STREAM_UNKNOWN`: not known.', { init: 'GMT_UNKNOWN' }],
      kind: 'u8 enum gmt_kind of native/wire.',
      step: 'step The step in which it was allocated, from 1.',
      ageSteps: 'step How many steps of its process have ended since.',
      category: ['Category', { cpp: 'uint8_t' }],
      name: 'text `encoder.layers.3.linear1.weight`; empty if it has no name.',
      module:
        'text Path of the module that has it or made it, `encoder.layers.3`; empty: none did, or it is not known.',
      askedBytes: [
        'u64 Requested bytes, of tensors; NaN: the framework’s allocator did not report them.',
        { init: 'GMT_UNKNOWN', known: 'row.asked_bytes != GMT_UNKNOWN' },
      ],
      poolOwner: ['u64', { inside: true, init: 'GMT_UNKNOWN' }],
      poolNumber: ['u64', { inside: true, init: 'GMT_UNKNOWN' }],
      pool: [
        'text Pool of a tensor as PyTorch numbers them, `0:3`; `0:0` is that of all; empty: not reported.',
        { from: 'pool_text(row.pool_owner, row.pool_number)' },
      ],
    },
  },
};
