// Every field of a question, once, as answers.mjs has those of answers: of it come the types of TypeScript, the structs of the model and
// what reads them from JavaScript. `?` behind a type: it may be absent.
//
//   a name of enums.mjs, bool, text, u32, bits   as in answers.mjs
//   one all     a number of a process or the like; -1 or absent: no restriction. `all` is -1 in C++, `one` nothing
//   i32         the same; -1 where it is none
//   size points a whole number from 0; how many points an axis may have
// Options: `init` as in answers.mjs; `cpp` another type of C++; `member` another place in C++; `inside` of C++ alone.

const window = { from: 'size Window of rows [from, to).', to: ['size', { init: 100 }] };
const births = {
  births: ['Births', { inside: true, cpp: 'Births' }],
  bornFromNs: [
    'size? Only blocks that were allocated in [bornFromNs, bornToNs) count. Of sites, live bytes and blocks are theirs alone, rows ' +
      'without any are left out (but with `includeDead`), and the rest of a row stays that of the whole site. Absent: no bound.',
    { member: 'births.from_ns' },
  ],
  bornToNs: ['size?', { member: 'births.to_ns' }],
};
const descending = ['bool', { init: true }];
const points = ['points At most this many points an axis (16 to 2048); steps are merged further.', { init: 256 }];
const ofDevice = { process: 'u32', device: 'i32' };

export const questions = {
  SiteQuery: {
    layer: 'Layer',
    groupBy: 'GroupBy',
    sort: ['SiteSort', { read: 'word_if' }],
    descending,
    filter:
      'text? Words, all must match, capitals or not: text in file, function, thread name, device, or in the name or category of a live ' +
      'block of the site; `>10MB`, `<=1GB` on the row’s live bytes; `age>5steps`, `age<=2`: only blocks of that age count, as with ' +
      'bornFromNs. Empty = all.',
    process: 'all?',
    device: 'one?',
    includeDead: 'bool? Also sites that hold nothing now.',
    ...births,
    category: [
      'Category? Only tensors that are for this count, as with bornFromNs.',
      { cpp: 'std::optional<uint8_t>' },
    ],
    ...window,
  },
  AllocationQuery: {
    layer: 'Layer?',
    process: 'all?',
    device: 'one?',
    thread: 'one?',
    site: ['one?', { cpp: 'std::optional<uint32_t>' }],
    address: 'text? The block there alone; `0x…` or decimal.',
    filter: 'text? As SiteQuery.filter, but about one block: its bytes, its age, its name and category.',
    ...births,
    sort: ['AllocationSort', { read: 'word_if' }],
    descending,
    ...window,
  },
  TimelineQuery: {
    series: 'Series',
    process: 'all?',
    device: 'one?',
    fromNs: 'size',
    toNs: 'size',
    buckets: ['size At most this many buckets come back, fewer where there are fewer changes.', { init: 1000 }],
  },
  SiteSeriesQuery: {
    process: 'u32',
    layer: 'Layer',
    sites:
      'u32[]? Only these, in this order; absent: all that ever had an event, most live bytes at the end of the last step first.',
    ...window,
    points,
  },
  LedgerSeriesQuery: { ...ofDevice, points },
  /** The passes, or ranges, of a process in [fromNs, toNs). */
  PassQuery: { process: 'u32', fromNs: 'size', toNs: 'size', leastNs: 'size? Shorter ranges are left out.' },
  SegmentQuery: {
    ...ofDevice,
    maxBlocks: ['size? At most so many blocks come back, the biggest; absent: 100,000.', { init: 100_000 }],
  },
  DeviceQuery: ofDevice,
  BlocksQuery: { process: 'u32', addresses: 'bits[]' },
  AnswerQuery: { process: 'u32', index: 'u32' },
};
