import { deviceName, formatBytes } from '../text/format';
import { bucketsOf, PASSES, type Series, type TraceInfo } from '../protocol/trace';
import { escapeJson } from '../text/escapeForTerminal';
import { batches } from '../base/maps';
import { rangeRows } from '../protocol/ranges';
import type { ExportInput } from './exportInput';
import { BiggestSlices, lanesOf, type Slice } from './perfettoSlices';
import { frameText, SiteBook, threadName } from './siteBook';
import { traceFacts } from './traceFacts';
import { findThread } from '../protocol/threads';

/** Allocations that are drawn, the biggest; counters hold them all. */
const MOST_SLICES_PER_LAYER = 10_000;
const COUNTER_POINTS = 4_000;
/** The most that a series of steps has (`SiteSeriesQuery.points`). */
const MOST_STEPS = 2_048;
const STACK_LINES = 16;
const EVENTS_AT_ONCE = 1_000;

/** An event of the Trace Event format; `ts` is in microseconds. */
interface TraceEvent {
  ph: 'M' | 'C' | 'b' | 'e' | 'i';
  name: string;
  pid: number;
  tid?: number;
  ts?: number;
  cat?: string;
  s?: 'p' | 't';
  id2?: { local: string };
  args?: Record<string, string | number>;
}

/**
 * A Trace Event file for Perfetto: counters by process, device and layer; the biggest allocations as slices, by thread; ends of
 * steps, pauses and failures as marks; passes and the program's own ranges as slices.
 */
export async function* perfettoChunks(input: ExportInput): AsyncGenerator<Buffer> {
  const slices = new BiggestSlices(MOST_SLICES_PER_LAYER);
  for await (const batch of input.batches) slices.add(batch);
  const groups = slices.groups();
  const drawn = groups.reduce((sum, group) => sum + group.length, 0);
  const facts = traceFacts(input.info, input.selection);
  const otherData = { ...facts, allocations: slices.total, allocationsDrawn: drawn };
  yield Buffer.from(`{"displayTimeUnit":"ms","otherData":${escapeJson(JSON.stringify(otherData))},"traceEvents":[`);
  let before = '';
  for (const events of batches(allEvents(input, groups), EVENTS_AT_ONCE)) {
    yield Buffer.from(before + events.map(event => `\n${escapeJson(JSON.stringify(event))}`).join(','));
    before = ',';
  }
  yield Buffer.from('\n]}\n');
}

function* allEvents(input: ExportInput, groups: readonly Slice[][]): Generator<TraceEvent> {
  yield* names(input.info);
  yield* counters(input);
  yield* stepMarks(input);
  yield* passes(input);
  yield* ranges(input);
  yield* pauses(input.info);
  yield* failures(input);
  yield* allocationSlices(input, groups);
}

function* names(info: TraceInfo): Generator<TraceEvent> {
  for (const { pid, command, threads } of info.processes) {
    yield { ph: 'M', name: 'process_name', pid, args: { name: command.join(' ') } };
    for (const { tid, name } of threads) yield { ph: 'M', name: 'thread_name', pid, tid, args: { name } };
  }
}

function* counters({ trace, info }: ExportInput): Generator<TraceEvent> {
  for (const process of info.processes) {
    const totals = info.totals.filter(entry => entry.process === process.index);
    const devices = new Set(totals.map(entry => entry.device).filter(device => device >= 0));
    const tracks: [Series, number][] = [...devices].flatMap(device =>
      (['tensor', 'reserved', 'driver'] as const).map((series): [Series, number] => [series, device]),
    );
    if (totals.some(entry => entry.layer === 'host')) tracks.push(['host', -1]);
    for (const [series, device] of tracks) {
      const query = { series, process: process.index, fromNs: 0, toNs: info.durationNs, buckets: COUNTER_POINTS };
      const points = trace.timeline(device < 0 ? query : { ...query, device });
      const name = `${series} bytes, ${deviceName(device, series === 'host' ? 'host' : 'driver')}`;
      yield* counter(name, process.pid, points, info.durationNs);
    }
  }
}

/** A bucket's most stands at its begin, what it ended with in its middle: so peaks stay. */
function* counter(name: string, pid: number, points: Float64Array, endNs: number): Generator<TraceEvent> {
  for (const bucket of bucketsOf(points, endNs)) {
    yield { ph: 'C', name, pid, ts: bucket.beginNs / 1e3, args: { bytes: bucket.max } };
    if (bucket.max === bucket.last) continue;
    const middle = (bucket.beginNs + bucket.endNs) / 2;
    yield { ph: 'C', name, pid, ts: middle / 1e3, args: { bytes: bucket.last } };
  }
}

/** Steps that the program has; of long runs the older ones are marked in groups. */
function* stepMarks({ trace, info }: ExportInput): Generator<TraceEvent> {
  for (const { process, source, count } of info.steps) {
    const device = info.totals.find(entry => entry.process === process && entry.device >= 0)?.device;
    const pid = info.processes[process]?.pid;
    if (source === 'time' || count === 0 || device === undefined || pid === undefined) continue;
    const { last, endNs } = trace.ledgerSeries({ process, device, points: MOST_STEPS });
    for (const [i, step] of last.entries()) {
      yield { ph: 'i', s: 'p', name: `end of step ${step}`, cat: 'step', pid, tid: pid, ts: (endNs[i] ?? 0) / 1e3 };
    }
  }
}

/** Forward and backward passes and the optimizer, one after the other on one track; only the newest are kept. */
function* passes({ trace, info }: ExportInput): Generator<TraceEvent> {
  for (const { index, pid } of info.processes) {
    const begins = trace.passes({ process: index, fromNs: 0, toNs: info.durationNs });
    const track = { cat: 'pass', pid, tid: pid, id2: { local: `0xb${index.toString(16)}` } };
    for (let at = 0; at < begins.length; at += 2) {
      const name = PASSES[begins[at + 1] ?? 0] ?? 'other';
      if (name === 'other') continue;
      yield { ph: 'b', name, ts: (begins[at] ?? 0) / 1e3, ...track };
      yield { ph: 'e', name, ts: (begins[at + 2] ?? info.durationNs) / 1e3, ...track };
    }
  }
}

/** What the program names itself, a track for each level; only the newest are kept. */
function* ranges({ trace, info }: ExportInput): Generator<TraceEvent> {
  for (const { index, pid } of info.processes) {
    const all = trace.ranges({ process: index, fromNs: 0, toNs: info.durationNs });
    for (const { name, fromNs, toNs, row } of rangeRows(all, info.durationNs)) {
      const track = { cat: 'range', pid, tid: pid, id2: { local: `0xc${index.toString(16)}${row.toString(16)}` } };
      yield { ph: 'b', name, ts: fromNs / 1e3, ...track };
      yield { ph: 'e', name, ts: toNs / 1e3, ...track };
    }
  }
}

function* pauses(info: TraceInfo): Generator<TraceEvent> {
  for (const [i, { process, kind, beginNs, endNs }] of info.pauses.entries()) {
    const pid = info.processes[process]?.pid ?? 0;
    const name = kind === 'recording' ? 'recording paused' : 'driver layer not recorded';
    const event = { name, cat: 'gap', pid, tid: pid, id2: { local: `0xa${i.toString(16)}` } };
    yield { ph: 'b', ts: beginNs / 1e3, ...event };
    yield { ph: 'e', ts: (endNs ?? info.durationNs) / 1e3, ...event };
  }
}

function* failures({ info, trace }: ExportInput): Generator<TraceEvent> {
  for (const { process, device, layer, requestedBytes, timeNs, site, liveBytes, thread } of info.outOfMemory) {
    const { pid = 0 } = info.processes[process] ?? {};
    const frames = trace.site(site)?.frames ?? [];
    yield {
      ph: 'i',
      s: 'p',
      name: `Out of memory: ${formatBytes(requestedBytes)} on ${deviceName(device, layer)}`,
      cat: 'oom',
      pid,
      tid: findThread(info.processes, process, thread)?.tid ?? pid,
      ts: timeNs / 1e3,
      args: { requestedBytes, liveBytes, layer, stack: frames.slice(0, STACK_LINES).map(frameText).join('\n') },
    };
  }
}

/** Each lane is a track, named by its first slice: one that spans the lane and names thread and layer. */
function* allocationSlices(input: ExportInput, groups: readonly Slice[][]): Generator<TraceEvent> {
  const { info } = input;
  const book = new SiteBook(input);
  const endOf = (slice: Slice): number => (Number.isNaN(slice.endNs) ? info.durationNs : slice.endNs);
  let lanes = 0;
  for (const group of groups) {
    for (const lane of lanesOf(group)) {
      const [first, last] = [lane[0], lane.at(-1)];
      if (first === undefined || last === undefined) continue;
      const process = info.processes[first.process];
      const thread = findThread(info.processes, first.process, first.thread);
      const track = {
        pid: process?.pid ?? 0,
        tid: thread?.tid ?? process?.pid ?? 0,
        cat: first.layer,
        id2: { local: `0x${(++lanes).toString(16)}` },
      };
      const name = `${first.layer} allocations of ${threadName(info, first.process, first.thread) || 'unknown thread'}`;
      yield { ph: 'b', name, ts: first.beginNs / 1e3, ...track };
      for (const slice of lane) {
        const text = frameText(book.line(slice.site));
        yield { ph: 'b', name: text, ts: slice.beginNs / 1e3, ...track, args: details(slice, book) };
        yield { ph: 'e', name: text, ts: endOf(slice) / 1e3, ...track };
      }
      yield { ph: 'e', name, ts: endOf(last) / 1e3, ...track };
    }
  }
}

function details(slice: Slice, book: SiteBook): Record<string, string | number> {
  return {
    bytes: slice.bytes,
    size: formatBytes(slice.bytes),
    address: `0x${slice.address.toString(16)}`,
    device: deviceName(slice.device, slice.layer),
    alive: Number.isNaN(slice.endNs) ? 'yes' : 'no',
    stack: book.frames(slice.site).slice(0, STACK_LINES).map(frameText).join('\n'),
  };
}
