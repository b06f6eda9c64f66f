// Answers that are objects, each after those that it holds. As answers.mjs; besides, `row` is the C++ struct that one is read from
// (`made`: it is made here, of the fields without `from`; `checkpoint`: and can be kept), `base` the object that it extends. `known` C++: without it the value is
// null. `T[]` is a list of such objects, or of texts. `byHand`: C++ sets the field itself.

const of = (from, more = {}) => ({ from, ...more });
const fact = name => of(`row.facts.${name}`);
const over = { known: 'row.end_ns != ~0ull' };

export const objects = {
  Frame: {
    doc: 'A place in the program, as a stack names it. Line 0 and empty file: not known.',
    row: 'model::Frame',
    fields: { file: 'text', line: 'u32', function: 'text' },
  },
  ThreadInfo: { row: 'trace::Thread', fields: { index: 'u32', tid: 'u32', name: 'text' } },
  Note: { row: 'trace::Note', fields: { code: 'u32', text: 'text' } },
  DeviceInfo: { row: 'trace::Device', fields: { index: 'u32', name: 'text', totalBytes: 'u64' } },
  ProcessInfo: {
    row: 'ProcessData',
    fields: {
      index: 'u32 Index in `TraceInfo.processes`, stable for the session.',
      pid: ['u32', fact('pid')],
      parentPid: ['u32', fact('parent_pid')],
      uid: ['u32', fact('uid')],
      command: 'text[] Arguments.',
      exitCode: [
        'number|null From the launcher or the log; null while it runs, or if no process waited for it.',
        { byHand: true },
      ],
      ended: 'bool The process has ended, in order or not.',
      startNs: ['u64', fact('start_ns')],
      python: ["text '3.12', or null without Python.", of('version_text(row.python)', { known: 'row.python' })],
      driverSource: ['DriverSource', of('driver_source(row.facts.driver_source)')],
      simulated: ['bool', fact('simulated')],
      recording: 'bool Recording is on.',
      threads: 'ThreadInfo[]',
      notes: 'Note[]',
    },
  },
  Totals: {
    row: 'TotalsData',
    fields: {
      process: 'u32',
      pid: 'u32',
      device: ['i32 -1 for host memory.', of('model::device_number(row.device)')],
      layer: 'Layer',
      liveBytes: 'i64',
      liveCount: 'i64',
      peakBytes: 'i64',
      peakNs: 'u64',
      allocations: 'u64',
      frees: 'u64',
      failed: 'u64',
      allocatedBytes: 'u64',
      freedBytes: 'u64',
      unmatchedFrees: 'u64 Frees of addresses that were never seen allocated.',
      impliedFrees: 'u64 Live allocations whose address was handed out again.',
      segmentAllocations:
        'u64 Of the driver’s allocations and frees, those of a framework’s caching allocator: here, and in `segmentFrees`.',
      segmentFrees: 'u64',
    },
  },
  Fragmentation: {
    doc: 'The framework’s segments on one device but for those of private pools, and what lies in them.',
    row: 'model::Fragmentation',
    made: true,
    fields: {
      segments: 'u64',
      segmentBytes: 'u64',
      partlyUsedSegments: 'u64 Segments that hold both a live block and a gap.',
      emptyBytes: 'u64 Of free bytes, those in segments without any live block: PyTorch can give them back.',
      freeBytes: 'u64 In all segments.',
      largestFreeBytes: 'u64 The longest gap.',
    },
  },
  Pool: {
    doc: 'A pool of the framework’s allocator on a device; listed if there is one beside the common one.',
    row: 'model::PoolRow',
    ...{ made: true, checkpoint: true },
    fields: {
      process: 'u32',
      device: 'i32',
      kind: ['PoolKind', { init: 'PoolKind::Unknown' }],
      makers: 'u32 Graphs, or MemPools, that still have it.',
      id: 'text As PyTorch numbers it, `0:3`; empty: not known.',
      label: 'text What it is, with a path to one of these.',
      segments: 'u64',
      reservedBytes: 'u64',
      liveBytes: 'u64',
      site: 'u32 Who took its biggest segment from the driver.',
    },
  },
  CategorySum: {
    row: 'model::CategoryRow',
    fields: {
      category: ['Category', of('static_cast<model::Category>(row.category)')],
      bytes: ['i64', of('row.sum.bytes')],
      count: ['i64', of('row.sum.count')],
    },
  },
  CategoryBytes: {
    doc: 'Live bytes of the tensor layer by what they are for.',
    row: 'CategoryData',
    base: 'CategorySum',
    fields: { process: 'u32', device: ['i32', of('model::device_number(row.device)')] },
  },
  SnapshotSite: {
    row: 'model::SnapshotSite',
    ...{ made: true, checkpoint: true },
    fields: {
      site: 'u32',
      liveBytes: 'i64',
      liveCount: 'i64',
      oldestStep: 'step Step of its oldest live block.',
      grownBytes: 'i64 Live bytes now less those at the end of the last step.',
      activationBytes: 'i64 Of the live bytes, those that wait for a backward pass.',
      stepAllocatedBytes: 'f64 Allocated in the running step.',
      usualAllocatedBytes: 'f64 The mean of up to 8 steps before it.',
    },
  },
  MemorySnapshot: {
    doc: 'Memory of one process on one device at one moment. null: not known.',
    row: 'model::MemorySnapshot',
    fields: {
      step: 'step The step that was running, from 1.',
      tensorBytes: 'i64',
      reservedBytes: ['i64', of('*row.reserved_bytes', { known: 'row.reserved_bytes' })],
      driverBytes: 'i64',
      processBytes: [
        'u64 By the device’s own account (NVML), as it was read last.',
        of('row.memory->process_bytes', { known: 'row.memory && row.memory->process_bytes != ~0ull' }),
      ],
      usedBytes: ['u64', of('row.memory->used_bytes', { known: 'row.memory' })],
      totalBytes: ['u64', of('row.memory->total_bytes', { known: 'row.memory' })],
      tracedBytes: ['i64 driverBytes when that was read.', of('row.traced_bytes', { known: 'row.memory' })],
      fragmentation: 'Fragmentation Without what lies in private pools.',
      pools: 'Pool[]',
      oldGradientBytes: 'i64 Gradients that an earlier step made.',
      categories: ['CategorySum[]', of('category_sums(row)')],
      sites: 'SnapshotSite[] Of the layer that failed (tensors where there are any), biggest first, up to 50.',
    },
  },
  OutOfMemory: {
    row: 'model::OutOfMemory',
    fields: {
      process: 'u32',
      device: 'i32',
      layer: 'Layer',
      requestedBytes: 'u64',
      timeNs: 'u64',
      site: 'u32',
      liveBytes: 'i64',
      thread: 'u32',
      freeBytes: [
        'u64 Of the device, if the allocator reported it with the failure; else null.',
        of('row.free_bytes', { known: 'row.free_bytes != GMT_UNKNOWN' }),
      ],
      snapshot: [
        'MemorySnapshot Only of the first failures and the newest: what memory looked like at that moment.',
        of('*row.snapshot', { known: 'row.snapshot' }),
      ],
    },
  },
  ProcessSteps: {
    doc: 'Steps of one process are numbered from 1. The first holds everything before the first end.',
    row: 'ProcessSteps',
    made: true,
    fields: {
      process: 'u32',
      source: 'StepSource',
      count: 'u32 Steps that have ended.',
      lastEndNs: 'u64 End of the last one, 0 without one.',
      sure: "bool False while rounds of a loop ('periodic') may be those of a set-up, such as building a model layer by layer.",
      alone: "bool Rounds of a loop ('periodic') in which one line alone allocates, as where weights are loaded.",
      parts:
        "bool Rounds of a loop ('periodic') without a backward pass, of a program that has some: they may be parts of a step.",
      idleNs:
        'u64 Of a loop (periodic) of a program that has ended: how long it worked behind it without an event; else 0.',
      poolsNs:
        'u64 Until when it is known which pool has which memory (that of captured graphs, say): all until now where none was taken since; 0: never listed.',
      touched: 'u32 Of the ended steps, those in which events are missing (see StepAxis.flags).',
    },
  },
  Pause: {
    doc: "Nothing was recorded ('recording'), or nothing of the driver layer ('driver').",
    row: 'Pause',
    made: true,
    fields: {
      process: 'u32',
      ofDriver: ['bool', { inside: true }],
      kind: ["'recording'|'driver'", of('row.of_driver ? "driver" : "recording"')],
      beginNs: 'u64',
      endNs: ['u64 null: it lasts.', over],
    },
  },
  NamedRange: {
    doc: 'A range that the program names itself: of NVTX, or an annotation of a memory snapshot.',
    row: 'model::Range',
    fields: {
      beginNs: 'u64',
      endNs: ['u64 null: not over yet.', over],
      thread: 'u32 Index within the process; of a snapshot 0, whichever it was.',
      name: 'text',
    },
  },
  AnswerInfo: {
    row: 'AnswerInfo',
    made: true,
    fields: {
      process: 'u32',
      index: 'u32 Names the answer within its process; rises.',
      request: 'u32 0: without a request; then there may be several.',
      timeNs: 'u64 Of the event behind which it was found.',
      complete: 'bool False while parts are missing.',
    },
  },
  BlockFacts: {
    doc: 'A block by its address, alive or freed since the end of the last step (then without its time).',
    row: 'BlockAnswer',
    fields: {
      address: ['bits', fact('address')],
      known: ['bool False: there is no such block. The rest is then 0.', fact('known')],
      alive: ['bool', fact('alive')],
      bytes: ['u64', fact('bytes')],
      site: 'u32',
      device: ['i32', of('(row.facts.known ? model::device_number(row.facts.device) : 0)')],
      step: ['step', fact('step')],
      timeNs: ['u64', fact('time_ns')],
    },
  },
  Answer: {
    row: 'AgentAnswer',
    base: 'AnswerInfo',
    fields: {
      text: 'text JSON as the agent wrote it; empty while parts are missing.',
      blocks: 'BlockFacts[] The tensors whose addresses stand in the text, as they were when it was read.',
    },
  },
  FreeLine: {
    doc: 'A stack that frees blocks of a site.',
    row: 'model::FreeLine',
    fields: {
      count: 'u64 Frees seen with this stack; of tensors only a sample of a thread’s frees has stacks.',
      lastStep: 'step Step of the last one, from 1.',
      frames: ['Frame[]', of('row.stack.frames')],
      userFrame: ['i32', of('row.stack.user_frame')],
    },
  },
  Site: {
    row: 'model::SiteDetail',
    fields: {
      id:
        'u32 Names the site within one session. Two sessions over one trace (one of them up to a moment, say) number the sites of a ' +
        'single process alike; with several processes they may not: compare `process` and `key` then.',
      key:
        'key 16 hexadecimal digits, the same for the same stack content, layer and source in every process, session and trace. All ' +
        'zero while the stack is not known yet.',
      layer: 'Layer',
      source: 'LineSource',
      pass: 'Pass Of its allocations. `evaluation` is no site’s: only a whole pass shows that.',
      cut: ['bool Deeper than the recorded 128 frames.', of('row.stack.cut')],
      frames: ['Frame[] Innermost first.', of('row.stack.frames')],
      userFrame: [
        'i32 Index of the first frame outside the standard library and site-packages, -1 = none.',
        of('row.stack.user_frame'),
      ],
      library:
        'text Path of the library, or the program, that called the driver; empty: not known, or not of the driver.',
    },
  },
  TraceInfo: {
    row: 'InfoData',
    fields: {
      revision: 'u64 Rises with each batch of events; equal numbers mean that nothing changed.',
      live: 'bool False once every process ended and all was read.',
      events: 'u64',
      durationNs: 'u64',
      startRealtimeMs: ['f64', of('static_cast<double>(row.start_realtime_ns) * 1e-6')],
      lost: [
        'Losses Of some causes no event is missing, but its stack or a name.',
        { byHand: true, ts: '{ events: number; byCause: Record<string, number> }' },
      ],
      session: [
        'JSON The launcher left it (empty object when absent).',
        { byHand: true, ts: 'Record<string, unknown>' },
      ],
      processes: 'ProcessInfo[]',
      devices: 'DeviceInfo[]',
      totals: 'Totals[]',
      outOfMemory: 'OutOfMemory[] The first failures and the newest.',
      outOfMemoryCount: 'u64 All of them.',
      steps: 'ProcessSteps[] One entry a process with events.',
      pauses: 'Pause[]',
      categories: 'CategoryBytes[]',
      answers: 'AnswerInfo[] What the agent answered; `TraceSource.answer` gives the text.',
    },
  },
};
