// A host for the page without VS Code: answers its requests from generated data, in a worker, as messages that are copied.
import { CallTree } from '../../extension/report/trees/callTree';
import { stackTree as treeOf } from '../../extension/report/trees/stackTree';
import type { SessionView, ToHost } from '../../extension/protocol/requests/messages';
import type { Batch } from '../../extension/protocol/requests/outbox';
import { type FreeLine, NO_SITE_ROW, siteWindow } from '../../extension/protocol/trace';
import type { Layer, ProcessInfo, Site, SiteQuery, SiteRow, SiteWindow } from '../../extension/protocol/trace';
import type { Timeline, TimelineQuery, Totals, TraceInfo, TraceSource } from '../../extension/protocol/trace';
import type { OfMoment } from '../../extension/protocol/requests/moment';
import {
  holdReading,
  passes,
  PEAK_CARD,
  peakInside,
  ranges,
  readMoment,
  stackedTimeline,
  timelineSteps,
} from './fakeTimeline';
import type { RowVerdict } from '../../extension/protocol/requests/verdictRequests';
import { makeProcess, makeTotals } from '../unit/fakeTrace';
import { findings, longNames, noteInquiry, otherLines, type Story } from './fakeFindings';
import { blockHolder, ledger, liveBlocks, oneBlock } from './fakeBlocks';
import { compare, compareTraces, RUN_BEFORE, TOO_EARLY } from './fakeCompare';
import { forecast } from './fakeForecast';
import { mapBlock, segments } from './fakeSegments';
import { stackTree } from './fakeTree';

const GB = 1024 ** 3;
const SITES = 5000;
const POINTS = 100_000;
const RUN_NS = 423e9;
const FILES = ['train.py', 'model.py', 'data.py', 'metrics.py', 'optim/adam_with_a_long_name.py', 'engine.py'];
const FUNCTIONS = ['forward', 'training_step', 'Attention.forward', 'collate', 'update', '<lambda>', 'main'];
const THREADS = [
  { index: 0, tid: 2166793, name: 'python' },
  { index: 1, tid: 2167089, name: 'pt_autograd_0' },
  { index: 2, tid: 2167090, name: 'Thread-1 (worker)' },
];

type Entry = SiteRow;

const tree = new CallTree();

let seed = 42;
function random(): number {
  seed = (seed * 1664525 + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

const entries: Entry[] = Array.from({ length: SITES }, (_, id) => makeEntry(id));
const series = {
  tensor: makeSeries(5 * GB, 2 * GB, 0),
  reserved: makeSeries(7 * GB, 0, 1),
  driver: makeSeries(8 * GB, 0, 2),
};
let revision = 1;
let scene: Partial<SessionView> = {};
let cards = 2;
let story: Story = 'leaks';
/** Lines and findings that there are, all where it is not set; long: names and figures have many letters; note: all that is missing; oneFile: all lines are of one. */
let limits: {
  /** So many times what each series of the timeline holds. */
  drawn?: Partial<Record<TimelineQuery['series'], number>>;
  rows?: number;
  findings?: number;
  long?: boolean;
  oneFile?: boolean;
  note?: ProcessInfo['notes'][number];
  command?: string[];
} = {};
let timer = 0;

function makeEntry(id: number): Entry {
  const growing = id % 23 === 0;
  const liveBytes = Math.floor((2.6 * GB) / (1 + Math.floor(random() * SITES)) ** 0.9) + 512;
  const backward = id % 7 === 3;
  return {
    ...NO_SITE_ROW,
    id: id + 1,
    key: keyOf(id + 1),
    process: 0,
    file: id === 40 ? '' : `/home/user/project/${FILES[id % FILES.length]}`,
    line: id === 40 ? 0 : 1 + Math.floor(id / FILES.length),
    function: id === 40 ? '' : FUNCTIONS[id % FUNCTIONS.length]!,
    liveBytes,
    liveCount: 1 + Math.floor(random() * 3000),
    growth: growing ? 3e7 * random() : id % 11 === 0 ? -2e6 * random() : 0,
    thread: backward ? 1 : id % 13 === 0 ? -1 : id % 3 === 0 ? 2 : 0,
    device: id % 5 === 0 ? 1 : 0,
    source: backward ? 'forward' : 'python',
    spark: Float64Array.from({ length: 16 }, (_, i) =>
      growing ? (i / 15) * liveBytes : liveBytes * (0.7 + 0.3 * random()),
    ),
  };
}

function makeSeries(base: number, saw: number, shape: number): Float64Array {
  const values = new Float64Array(POINTS);
  for (let i = 0; i < POINTS; i++) {
    const part = i / POINTS;
    const tooth = (i % 4_000) / 4_000;
    const spike = shape === 0 && i % 12_345 === 50 ? 2.5 * GB : 0;
    const steps = shape === 0 ? part * 3 * GB : Math.floor(part * 6) * 0.6 * GB;
    values[i] =
      base * Math.min(1, part * 20) * 0.8 + steps + saw * tooth + spike + (shape === 0 ? random() * 0.2 * GB : 0);
  }
  return values;
}

function timeline({ series: name, fromNs, toNs, buckets }: TimelineQuery): Timeline {
  const part = limits.drawn?.[name] ?? 1;
  if (part === 0) return new Float64Array();
  const values = name === 'host' ? new Float64Array() : series[name];
  const at = (ns: number): number => Math.max(0, Math.min(POINTS, Math.ceil((ns / RUN_NS) * POINTS)));
  const [first, end] = [at(fromNs), at(toNs)];
  const out: number[] = [];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = first + Math.floor(((end - first) * bucket) / buckets);
    const to = first + Math.floor(((end - first) * (bucket + 1)) / buckets);
    if (to <= from) continue;
    let [min, max] = [Infinity, -Infinity];
    for (let i = from; i < to; i++) {
      min = Math.min(min, values[i]!);
      max = Math.max(max, values[i]!);
    }
    out.push((from / POINTS) * RUN_NS, part * min, part * max, part * values[to - 1]!);
  }
  return Float64Array.from(out);
}

function sorted({ moment, ...query }: SiteQuery & OfMoment): Entry[] {
  const words = (query.filter ?? '').split(/\s+/).filter(word => word !== '' && !word.startsWith('>'));
  const least = /(?:^|\s)>(\d+)MB/.exec(query.filter ?? '');
  const rows = entries
    .slice(0, limits.rows)
    .filter(
      row =>
        words.every(word => `${row.file} ${row.function}`.includes(word)) &&
        (!least || row.liveBytes > Number(least[1]) * 1024 ** 2),
    );
  const key = (row: Entry): number | string => {
    if (query.sort === 'label') return `${row.file}:${String(row.line).padStart(6, '0')}`;
    if (query.sort === 'growth' || query.sort === 'liveCount' || query.sort === 'thread' || query.sort === 'device')
      return row[query.sort];
    return row.liveBytes;
  };
  const order = query.descending ? -1 : 1;
  // Of another moment, some of the lines are there.
  const kept = { now: 1, at: 2, born: 7 }[moment?.kind ?? 'now'];
  return rows
    .filter(row => row.id % kept === 0)
    .sort((a, b) => order * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.id - b.id));
}

function keyOf(id: number): string {
  return id.toString(16).padStart(16, '0');
}

function sites(query: SiteQuery & OfMoment): SiteWindow {
  const all = sorted(query);
  const rows = all.slice(query.from, query.to).map(row => ({
    ...row,
    peakBytes: row.liveBytes * 1.2,
    allocations: row.liveCount * 9,
    frees: row.liveCount * 8,
    allocatedBytes: row.liveBytes * 9,
    label: `${row.file}:${row.line}`,
    ...(limits.oneFile && row.file !== '' && { file: '/home/user/project/finetune.py', line: 10 + (row.id % 990) }),
  }));
  const sum = (of: 'liveBytes' | 'liveCount'): number => all.reduce((sums, row) => sums + row[of], 0);
  return siteWindow(rows, {
    revision,
    total: all.length,
    sumLiveBytes: sum('liveBytes'),
    sumLiveCount: sum('liveCount'),
  });
}

function site(id: number): Site | null {
  const row = entries[id - 1];
  if (!row) return null;
  const library = '/usr/lib/python3.12/site-packages/torch/nn/modules';
  const frames = [
    { file: row.file, line: row.line, function: row.function },
    ...['linear.py', 'module.py', 'module.py', 'container.py'].map((file, i) => ({
      file: `${library}/${file}`,
      line: 100 + i,
      function: '_call_impl',
    })),
    { file: '/home/user/project/train.py', line: 63, function: 'training_step' },
    { file: '/usr/lib/python3.12/contextlib.py', line: 81, function: 'inner' },
    { file: '/home/user/project/train.py', line: 88, function: 'main' },
  ];
  const native = row.line === 0;
  return {
    id,
    key: keyOf(id),
    layer: 'tensor',
    source: row.source,
    pass: 'forward',
    cut: id % 3 === 0,
    frames: native ? [] : frames,
    userFrame: native ? -1 : 0,
    library: '',
  };
}

function verdict(id: number): RowVerdict {
  const growing = story !== 'clean' && (id - 1) % 23 === 0;
  const state = growing ? 'growing' : (['transient', 'one-shot', 'plateau', 'sawtooth', 'unknown'] as const)[id % 5]!;
  const stays = state === 'transient' ? 'It is freed within one or two steps.' : 'It does not grow.';
  const because = growing ? 'More of it stays after each step.' : stays;
  return { site: id, state, bytesPerStep: growing ? (limits.long ? 512 : 763.31 * 1024 ** 2) : 0, because };
}

/** Every third site is freed by nobody. */
function freeLines(id: number): FreeLine[] {
  if (id % 3 === 0) return [];
  const at = (line: number, name: string): FreeLine['frames'] => [
    { file: '/home/user/project/train.py', line, function: name },
  ];
  return [
    { count: 812, lastStep: 3, frames: at(66, 'backward'), userFrame: 0 },
    { count: 5, lastStep: 412, frames: at(70, 'main'), userFrame: 0 },
  ];
}

function totals(device: number, layer: Layer, liveBytes: number): Totals {
  const counts = {
    liveCount: 9841,
    allocations: 812_345,
    frees: 802_504,
    segmentAllocations: layer === 'driver' ? 90 : 0,
  };
  const bytes = { liveBytes, peakBytes: liveBytes * 1.3, peakNs: 1e9, allocatedBytes: 40 * GB, freedBytes: 30 * GB };
  return makeTotals({ device, layer, ...counts, ...bytes });
}

const FAILED: TraceInfo['outOfMemory'][number] = {
  process: 0,
  device: 0,
  layer: 'tensor',
  requestedBytes: GB,
  timeNs: 401e9,
  site: 1,
  liveBytes: 22.9 * GB,
  thread: 0,
  freeBytes: null,
  snapshot: null,
};

/** Of a program without a leak all was recorded. */
function info(): TraceInfo {
  const { note } = limits;
  const clean = story === 'clean' || note !== undefined;
  const process = makeProcess({
    simulated: true,
    command: limits.command ?? [],
    threads: THREADS,
    notes: note ? [note] : clean ? [] : [{ code: 1, text: 'the profiler took CUPTI from 12.0 s to 14.5 s' }],
  });
  return {
    revision,
    live: true,
    events: 1_614_849,
    durationNs: RUN_NS,
    startRealtimeMs: 1_760_000_000_000,
    lost: clean ? { events: 0, byCause: {} } : { events: 1234, byCause: { budget: 1200, 'disk full': 34 } },
    session: {},
    processes: [process],
    devices: [
      { index: 0, name: 'NVIDIA H200', totalBytes: 24 * GB },
      { index: 1, name: 'NVIDIA H200', totalBytes: 24 * GB },
    ].slice(0, cards),
    totals: [
      totals(0, 'tensor', 7.4 * GB),
      totals(0, 'driver', 11.6 * GB),
      totals(1, 'tensor', 1.1 * GB),
      totals(1, 'driver', 2.2 * GB),
    ].filter(one => one.device < cards && !scene.onCpu),
    outOfMemory: clean ? [] : [FAILED],
    outOfMemoryCount: clean ? 0 : 1,
    steps: [],
    pauses: clean && limits.note?.code !== 13 ? [] : [{ process: 0, kind: 'recording', beginNs: 140e9, endNs: 165e9 }],
    categories: [],
    answers: [],
  };
}

function session(): SessionView {
  const phase = scene.phase ?? 'running';
  const known = phase === 'running' || phase === 'ended';
  const view: SessionView = {
    id: 1,
    phase,
    title: phase === 'empty' ? '' : 'train.py',
    detail: '',
    simulated: known,
    recording: true,
    exitCode: null,
    ending: null,
    trusted: true,
    canWiden: true,
    marks: [],
    sessions: [],
    info: known ? info() : null,
    ...scene,
  };
  return limits.long ? (longNames(view) as SessionView) : view;
}

function answer(message: Extract<ToHost, { type: 'request' }>): unknown {
  switch (message.method) {
    case 'findings':
      return findings(story, limits.findings);
    case 'compareRuns':
      return message.params.before === 4 ? TOO_EARLY : RUN_BEFORE;
    case 'builtUp':
      return '160 MiB of the peak builds up over 50 steps';
    case 'otherLines':
      return otherLines();
    case 'findHolders':
    case 'stopHolderSearch':
      return noteInquiry(message.method);
    case 'sites':
      return sites(message.params);
    case 'site':
      return site(message.params.id);
    case 'stackTree':
      if (message.params.open === undefined || message.params.weight === 'modules') return stackTree(message.params);
      return treeOf(tree, { sites, site } as unknown as TraceSource, message.params);
    case 'forecast':
      postMessage({ type: 'bench', method: message.method, params: message.params });
      return forecast(message.params);
    case 'segments':
      return segments(entries);
    case 'ledger':
      return ledger(entries.slice(0, 2), cards);
    case 'allocations':
      return liveBlocks(message.params, RUN_NS);
    case 'block':
      return oneBlock(message.params, RUN_NS) ?? mapBlock(message.params, RUN_NS);
    case 'blockHolder':
      return blockHolder(message.params);
    case 'timeline':
      return message.params.series.map(timeline);
    case 'stackedTimeline':
      return stackedTimeline(message.params, RUN_NS);
    case 'timelineSteps':
      return timelineSteps(RUN_NS);
    case 'passes':
      return passes(RUN_NS);
    case 'ranges':
      return ranges(RUN_NS, message.params.leastNs);
    case 'peakCard':
      return PEAK_CARD;
    case 'peakInside':
      return peakInside(message.params, timeline);
    case 'exactPeak':
      return {
        ...readMoment({ kind: 'at', timeNs: message.params.toNs }),
        peak: { fromNs: message.params.toNs, toNs: message.params.toNs, bytes: message.params.bytes },
      };
    case 'readMoment':
      return readMoment(message.params.moment);
    case 'verdicts':
      return message.params.sites.map(verdict);
    case 'compareTraces':
      return compareTraces(RUN_NS);
    case 'compare':
      return compare(message.params, limits.oneFile);
    case 'freeLines':
      return freeLines(message.params.site);
    default:
      postMessage({ type: 'bench', method: message.method, params: message.params });
      return undefined;
  }
}

/** Events as a running program sends them, ten times a second. */
function live(on: boolean): void {
  clearInterval(timer);
  if (!on) return;
  timer = Number(
    setInterval(() => {
      revision++;
      for (let i = 0; i < 50; i++) entries[Math.floor(random() * SITES)]!.liveBytes *= 1.01;
      postMessage({ type: 'changed', revision });
    }, 100),
  );
}

interface Scene {
  type: 'scene';
  scene: Partial<SessionView>;
  live: boolean;
  devices: number;
  story: Story;
  limits?: typeof limits;
}
interface Held {
  type: 'holdReading';
  on: boolean;
}
/** Requests of this method wait for their answers; null: no more. */
interface Hold {
  type: 'hold';
  method: string | null;
}
type Message = ToHost | Scene | Held | Hold;
let held: string | null = null;
let waiting: Message[] = [];

function receive(data: Message): void {
  if (data.type === 'holdReading') {
    holdReading(data.on);
    return postMessage({ type: 'session', session: session() });
  }
  if (data.type === 'ready') return postMessage({ type: 'session', session: session() });
  if (data.type === 'scene') {
    scene = data.scene;
    cards = data.devices;
    story = data.story;
    limits = data.limits ?? {};
    live(data.live);
    return postMessage({ type: 'session', session: session() });
  }
  if (data.type === 'hold') {
    held = data.method;
    const all = waiting;
    waiting = [];
    all.forEach(receive);
    return postMessage({ type: 'session', session: session() });
  }
  if (data.method === held) return void waiting.push(data);
  const started = performance.now();
  const buckets = data.method === 'timeline' ? data.params.series[0]?.buckets : undefined;
  const value = limits.long ? longNames(answer(data)) : answer(data);
  postMessage({ type: 'response', id: data.id, ok: true, value });
  postMessage({ type: 'bench', method: `${data.method} answered`, ms: performance.now() - started, buckets });
}

addEventListener('message', ({ data }: MessageEvent<Message | Batch<Message>>) => {
  for (const message of data.type === 'batch' ? data.messages : [data]) receive(message);
});
