// Every field of an answer, once: its type, what it says, and what the table makes of it. `node test/project/schema/generate.mjs`
// makes of it the TypeScript types, accessors and columns, and the C++ structs and what packs them.
//
//   name: [type, what it says, options]
//
// Types, as C++ / in a row of TypeScript / as a column:
//   u8 u16 u32 i32 f64   a number; a typed array of that type (of an i32 for u16)
//   u64 i64 step         a number; a Float64Array (exact to 2^53)
//   bits                 uint64_t, a bigint; a BigUint64Array
//   text key             a string; strings. A key is a uint64_t, shown as 16 hexadecimal digits
//   a name of enums.mjs  the enum, its word; words
// Options: `cpp` another C++ type; `init` its first value; `from` an expression for `row` where the C++ struct is not made from here;
// `each` so many values a row; `known` C++: the value is NaN without it; `part` of the struct of figures (of them `sort`: rows can
// be sorted by it); `column` of the table, in a format; `inside` of C++ alone.

const SOME = { init: -1 };

export const windows = {
  Site: {
    doc: 'A row of live memory: a site, or a group of them.',
    window: 'A window of rows; each array has `rows` entries.',
    rows: 'SiteRows',
    figures: 'SiteFigures',
    head: {
      sumLiveBytes: ['i64', 'Sums over all rows that match, not only the window’s.'],
      sumLiveCount: ['i64'],
    },
    fields: {
      id: ['u32', 'The site’s id for groupBy `site`, else the id of the group’s biggest site.'],
      key: ['key', '`Site.key` of that site.'],
      liveBytes: [
        'i64',
        'Bytes alive now.',
        {
          sort: true,
          column: {
            id: 'live',
            of: 'bytes',
            title: 'Alive',
            hint: 'Bytes alive now',
            choice: 'Bytes alive',
            px: [92, 92],
          },
        },
      ],
      liveCount: [
        'i64',
        'Blocks alive now.',
        {
          sort: true,
          column: {
            id: 'count',
            of: 'count',
            title: 'Blocks',
            hint: 'Blocks alive now',
            choice: 'Blocks alive',
            px: [72, 46],
          },
        },
      ],
      peakBytes: [
        'i64',
        'Most bytes alive at a time. Exact for a whole site, and for a process or device alone on its layer; for sums of ' +
          'several makers at least this much (the highest sum at the ends of the 64 spans that are kept of a run, or of one ' +
          'maker).',
        {
          sort: true,
          known: 'has_history',
          column: {
            id: 'peak',
            of: 'bytes',
            title: 'Peak',
            hint: 'Most bytes alive at a time',
            choice: 'Peak',
            px: [84, 76],
          },
        },
      ],
      allocations: [
        'u64',
        'So far.',
        {
          sort: true,
          known: 'has_history',
          column: {
            id: 'allocations',
            of: 'count',
            title: 'Allocations',
            hint: 'Allocations so far',
            choice: 'Allocations',
            px: [84, 76],
          },
        },
      ],
      frees: [
        'u64',
        'So far.',
        {
          sort: true,
          known: 'has_history',
          column: { id: 'frees', of: 'count', title: 'Frees', hint: 'Frees so far', choice: 'Frees', px: [76, 70] },
        },
      ],
      allocatedBytes: [
        'u64',
        'All bytes ever allocated.',
        {
          sort: true,
          known: 'has_history',
          column: {
            id: 'allocated',
            of: 'bytes',
            title: 'Allocated',
            hint: 'All bytes ever allocated',
            choice: 'Allocated bytes',
            px: [88, 76],
          },
        },
      ],
      growth: [
        'f64',
        'Least-squares slope of live bytes over the recent past, bytes a second.',
        { sort: true, known: 'has_history' },
      ],
      hasHistory: ['bool', 'False: of the row only what lives is known.', { inside: true, init: true }],
      spark: [
        'f64',
        'Live bytes in 16 equal spans of the run so far, for a spark line.',
        { each: 16, known: 'has_history' },
      ],
      thread: ['i32', 'Thread index within `process`, -1 = several.', { part: true, ...SOME }],
      process: ['i32', '-1 = several.', { part: true, ...SOME }],
      device: ['i32', '-1 = host, none or several.', { part: true, ...SOME }],
      file: ['text', 'Of the user frame, or the innermost one. Line 0 and empty file: no Python line.'],
      line: ['u32'],
      function: ['text'],
      source: ['LineSource', '', { init: 'LineSource::None' }],
      library: ['text', '`Site.library` of that site.'],
      label: [
        'text',
        'Name of the group as text (thread `python:123`, process `train.py (123)`, device `gpu_0`, else `file:line`, or the ' +
          'library’s file name where there is no line).',
      ],
    },
  },
};

export const objects = {};
