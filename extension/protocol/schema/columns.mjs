// Answers that are columns side by side without rows to be looked at one by one: lifetimes, segments, series over steps. As
// answers.mjs; besides, `row` is the C++ struct that columns are read from, `made`: it is made here; `answer` that of the whole, which
// has them as `list`, `part`: with others; `of`: the column is read from another list of it, `from` its `one`. A matrix has rows × points
// of the axis, and a column of the C++ enum.

const ENDED = 'row.lifetime.end_ns != model::Lifetime::kAlive';
const of = (from, more = {}) => ({ from, ...more });
const lifetime = name => of(`row.lifetime.${name}`);
const index = { array: 'Uint8Array', row: 'number' };

export const columns = {
  LifetimeBatch: {
    doc: 'Allocations with their ends, roughly in the order of these; last those that are alive. Each array has `rows` entries.',
    row: 'LifetimeRow',
    answer: 'LifetimeRows',
    list: 'row.rows',
    head: {
      rows: ['u32', of('row.rows.size()')],
      modules: 'text[] Paths, each once; empty: of no module.',
    },
    fields: {
      address: ['bits', lifetime('address')],
      bytes: ['u64', lifetime('bytes')],
      device: ['i32 -1 for host memory.', of('model::device_number(row.lifetime.device)')],
      process: 'i32',
      thread: 'i32 Thread index within `process`.',
      layer: ['u8 Index into `LAYERS`.', index],
      site: 'u32',
      beginNs: ['u64', lifetime('begin_ns')],
      endNs: ['u64 NaN: alive at the end of what was read.', { ...lifetime('end_ns'), known: ENDED }],
      freeThread: [
        'i32 Thread that freed it; -1: it is alive, or its free was not seen and its address was handed out again.',
        lifetime('free_thread'),
      ],
      stream: ['bits', lifetime('stream')],
      kind: [
        'u8 enum gmt_kind of native/wire. 23, an import: another process owns the memory, and `Totals` do not count it.',
        lifetime('kind'),
      ],
      stepBegin: [
        'step The step in which it was allocated, from 1, as far as steps were known when it ended.',
        lifetime('step'),
      ],
      category: ['u8 Index into `CATEGORIES`.', lifetime('category')],
      module: 'u32 Index into `modules`: of the module that has it by name, else of the one that made it.',
    },
  },
  SegmentBlocks: {
    doc: 'The live blocks in segments, in address order.',
    row: 'model::SegmentBlock',
    ...{ made: true, answer: 'model::SegmentMap', part: true, list: 'row.blocks' },
    head: {
      rows: ['u32', of('row.blocks.size()')],
      leftOut: [
        'u64 Blocks that `maxBlocks` or `segmentsLeftOut` left out; the columns of segments count them.',
        of('row.blocks_left_out'),
      ],
      leftOutBytes: ['u64', of('row.bytes_left_out')],
      outside: ['u64 Blocks of the framework that lie in no recorded segment.', of('row.blocks_outside')],
      outsideBytes: ['u64', of('row.bytes_outside')],
    },
    fields: {
      segment: 'u32 Index into the segments.',
      offsetBytes: ['u64 From the segment’s begin.', { member: 'offset' }],
      bytes: 'u64',
      site: 'u32',
      ageSteps: 'step',
      category: 'u8 Index into `CATEGORIES`.',
    },
  },
  SegmentMap: {
    doc: 'One process’s memory on one device in address order, to be drawn. Each array has an entry a segment.',
    row: 'model::Segment',
    ...{ answer: 'model::SegmentMap', list: 'row.segments' },
    head: {
      revision: 'u64',
      source: [
        "'framework'|'driver' `framework`: what a caching allocator took from the driver, and its blocks in there. `driver`: no " +
          'framework’s allocator was seen; the segments are the driver’s own allocations, and `blocks` is empty.',
        of('row.of_driver ? "driver" : "framework"'),
      ],
      pools: ['text[] What they are; empty: not looked at.', of('row.pool_labels')],
      segmentsLeftOut: 'u64 At most 65,536 are here, the biggest; so many more are left out.',
      blocks: 'SegmentBlocks The live blocks in these segments.',
    },
    fields: {
      address: ['bits', { member: 'begin' }],
      bytes: ['u64', of('row.end - row.begin')],
      liveBytes: 'u64 Bytes of live blocks in it; for `driver` all of it.',
      largestGapBytes: ['u64 The longest run of bytes without a block.', { member: 'largest_gap' }],
      stream: 'bits 0n: the default stream, or not known.',
      mapped:
        'u8 1: put together from pieces that were mapped side by side ("expandable segments"), 0: taken in one piece.',
      site: ['u32 Who took it from the driver (of several pieces the first).', { of: 'sites', from: 'one' }],
      pool: ['u32 Index into `pools`.', { of: 'pools', from: 'one' }],
    },
  },
  StepAxis: {
    doc:
      'The common axis of a process’s step series: n points, oldest first. Point i stands for the steps [first[i], last[i]], which ' +
      'have all ended: 1 step each for the newest, and 2, 4, 8, ... steps the further back. The same for every series of the ' +
      'process at one revision and with one `points`.',
    row: 'model::StepMark',
    ...{ answer: 'model::StepAxis', list: 'row.marks' },
    head: { process: 'u32', source: 'StepSource', count: 'u32 Steps that have ended.' },
    fields: {
      first: ['step', { of: 'buckets', from: 'one.first' }],
      last: ['step', { of: 'buckets', from: 'one.last' }],
      endNs: 'u64 End of step last[i].',
      fullCollections: 'step Runs of Python’s collector on its oldest generation that ended in these steps.',
      flags: 'u8 Or of STEP_*: what is not known of these steps.',
    },
  },
  SiteSeries: {
    doc:
      'Series of sites: row-major matrices, rows × axis points. liveBytes and liveCount hold at the end of step last[i]; the others ' +
      'are about the steps of the point. What happened since the last step’s end is in none of them.',
    base: 'StepAxis',
    row: 'model::SiteSeriesRow',
    ...{ made: true, answer: 'model::SiteSeries', list: 'row.rows' },
    head: {
      total: 'u32',
      rows: ['u32', of('row.rows.size()')],
    },
    fields: {
      id: 'u32',
      device: ['i32 -1 = several.', { init: -1 }],
      lineSource: ['LineSource', { member: 'source' }],
      lastAllocationStep: 'step Last step with an allocation, 0 = none; it may be the running step, count + 1.',
      oldestFreedSteps: 'u32 The greatest age of a block that was freed, in steps; 0: none outlived a whole step.',
      segmentAllocations:
        'u64 Allocations that a framework’s caching allocator made for its segments: such a site follows the tensors.',
      category: [
        'Category What most of its live bytes are for now.',
        { cpp: 'uint8_t', init: 'static_cast<uint8_t>(Category::Unnamed)' },
      ],
    },
    matrices: 'SeriesColumn',
    strip: /^step/,
    values: {
      liveBytes: '',
      liveCount: '',
      minBytes: '',
      maxBytes: '',
      stepAllocations: '',
      stepAllocatedBytes: '',
      stepFrees: '',
      stepFreedBytes: '',
      gcFreedBytes: 'Freed while Python’s collector ran on that thread.',
      oldFreedBytes: 'Of what was freed, the blocks that were older than the step before the one that ended them.',
      oldLiveCount: 'Of liveCount, blocks that were born before step last[i] - 1.',
      oldLiveBytes: '',
      stepLargestBytes: 'Biggest block allocated.',
      survivorCount: 'Blocks that were allocated in these steps and were still alive at the end of the last step.',
      survivorBytes: '',
    },
  },
  LedgerSeries: {
    doc: 'By axis point: bytes at the end of step last[i], and the most within the steps of the point. NaN: not known.',
    base: 'StepAxis',
    answer: 'model::LedgerSeries',
    head: { device: 'i32' },
    fields: {},
    matrices: 'LedgerColumn',
    strip: /Bytes$/,
    values: {
      tensorBytes: '',
      tensorMaxBytes: '',
      tensorMaxNs: 'When that was reached first; NaN: when the steps began.',
      reservedBytes: '',
      reservedMaxBytes: '',
      driverBytes: '',
      driverMaxBytes: '',
      hostBytes: 'Pinned memory of the process, whichever the device.',
      hostMaxBytes: '',
      processBytes: 'By the device’s own account (NVML), as read last before the end: of this process.',
      usedBytes: 'Of all processes.',
      totalBytes: 'What there is.',
      tracedBytes: 'What the driver calls of the process held when that was read.',
      pendingBytes:
        'Freed tensors whose blocks another stream still uses, as the framework’s allocator reported at an end of these steps.',
    },
  },
};
