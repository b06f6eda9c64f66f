import { firstWhere } from '../base/bisect';
import { remembered } from '../base/maps';
import type { LifetimeCursor } from '../native/native';
import { CATEGORIES, LAYERS, type Category, type Pass, type TraceInfo } from '../protocol/trace';

// The allocations of one run on one GPU, in columns: what a forecast changes and a replay gives to the allocator's rules.

/** More than these are not held at once. */
const MOST_ALLOCATIONS = 2_000_000;
const BATCH = 1 << 16;
const TENSOR = LAYERS.indexOf('tensor');
const DRIVER = LAYERS.indexOf('driver');
/** enum gmt_kind: what a segment is made of. */
const DEVICE_ALLOC = 16;
const PHYSICAL_CREATE = 22;

export interface RecordedRun {
  /** Allocations, in the order in which they began; the columns have a row each. */
  count: number;
  address: Float64Array;
  /** Of the block that it got. */
  bytes: Float64Array;
  /** Its place in the order of all that begins and ends in the run. */
  begin: Float64Array;
  /** Infinity: alive at the end. */
  end: Float64Array;
  /** From 1. */
  step: Float64Array;
  /** Index into `sites`. */
  site: Uint32Array;
  /** Index into `CATEGORIES`. */
  category: Uint8Array;
  /** Index into `modules`. */
  module: Uint32Array;
  modules: string[];
  sites: RunSite[];
  /** What the driver gave to PyTorch's allocator, in the order of time. */
  segments: RunSegment[];
  expandable: boolean;
  /** So many allocations, and of the segments, are of what was there before: the first ones. */
  earlier: number;
  /** 1: it was requested and did not fit. */
  failed: Uint8Array;
}

interface RunSite {
  /** The same in every run of the program. */
  key: string;
  pass: Pass;
  /** Of the program's own code, such as `/home/me/train.py:38`; empty: none. */
  line: string;
}

/** `begin`, `end`: as of allocations. */
export interface RunSegment {
  /** Of expandable segments: nobody knows. */
  address: number;
  bytes: number;
  begin: number;
  end: number;
  earlier: boolean;
}

interface Row extends RunSegment {
  step: number;
  site: number;
  category: number;
  module: number;
  failed: boolean;
}
interface DriverRow extends RunSegment {
  kind: number;
}

/** Reads the allocations of a process on a GPU, of steps before one. The error is one sentence. */
export async function readRun(
  cursor: LifetimeCursor,
  process: number,
  device: number,
  untilStep = Infinity,
): Promise<RecordedRun | { error: string }> {
  const rows: Row[] = [];
  const driver: DriverRow[] = [];
  let untilNs = Infinity;
  const modules = new Map<string, number>();
  const numberOf = (module: string): number => remembered(modules, module, () => modules.size);
  for (let batch = await cursor.next(BATCH); batch !== null; batch = await cursor.next(BATCH)) {
    const own = batch.modules.map(numberOf);
    for (let row = 0; row < batch.rows; row++) {
      if (batch.process[row] !== process || batch.device[row] !== device) continue;
      const begin = batch.beginNs[row] ?? 0;
      const times = { begin, end: endOf(batch.endNs[row]), earlier: begin === 0 };
      const size = { address: Number(batch.address[row]), bytes: batch.bytes[row] ?? 0 };
      if (batch.layer[row] === DRIVER) driver.push({ ...times, ...size, kind: batch.kind[row] ?? 0 });
      if (batch.layer[row] !== TENSOR || size.bytes === 0) continue;
      const step = batch.stepBegin[row] ?? 0;
      if (step >= untilStep) {
        untilNs = Math.min(untilNs, begin);
        continue;
      }
      if (rows.length === MOST_ALLOCATIONS)
        return { error: 'it has too many allocations to hold at once; trace fewer steps' };
      rows.push({
        ...times,
        ...size,
        step,
        site: batch.site[row] ?? 0,
        category: batch.category[row] ?? 0,
        module: own[batch.module[row] ?? 0] ?? 0,
        failed: false,
      });
    }
  }
  rows.push(...failedRows(cursor.info(), process, device, numberOf('')).filter(({ step }) => step < untilStep));
  rows.sort((a, b) => a.begin - b.begin);
  const before = driver.filter(({ begin }) => begin < untilNs);
  rank(rows, before);
  const earlier = rows.findIndex(row => !row.earlier);
  return {
    ...columnsOf(rows, cursor),
    modules: [...modules.keys()],
    ...segmentsOf(rows, before),
    earlier: earlier < 0 ? rows.length : earlier,
  };
}

/** What did not fit, as if it had been there for a moment. */
function failedRows({ outOfMemory }: TraceInfo, process: number, device: number, module: number): Row[] {
  const own = outOfMemory.filter(each => each.layer === 'tensor' && each.process === process && each.device === device);
  return own.map(({ timeNs, requestedBytes, site, snapshot }) => ({
    ...{ address: 0, bytes: requestedBytes, begin: timeNs, end: timeNs + 1, earlier: false, failed: true },
    ...{ step: snapshot?.step ?? 0, site, category: CATEGORIES.indexOf('other'), module },
  }));
}

/** Times become places in their order. At one time tensors end first, then segments; these begin before what lies in them. */
function rank(rows: readonly Row[], driver: readonly DriverRow[]): void {
  const times = new Float64Array(2 * (rows.length + driver.length));
  let at = 0;
  for (const all of [rows, driver])
    for (const { begin, end } of all) {
      times[at++] = begin;
      times[at++] = end;
    }
  times.sort();
  const place = (time: number, order: number): number =>
    time === Infinity ? Infinity : 4 * firstWhere(times.length, middle => (times[middle] ?? 0) > time) + order;
  for (const one of rows) [one.begin, one.end] = [place(one.begin, 3), place(one.end, 0)];
  for (const one of driver) [one.begin, one.end] = [place(one.begin, 2), place(one.end, 1)];
}

const endOf = (endNs: number | undefined): number => (endNs === undefined || Number.isNaN(endNs) ? Infinity : endNs);

const NO_SITE = { key: '', pass: 'other' as const, frames: [], userFrame: -1 };

function columnsOf(
  rows: readonly Row[],
  cursor: LifetimeCursor,
): Omit<RecordedRun, 'modules' | 'segments' | 'expandable' | 'earlier'> {
  const sites = new Map<number, number>();
  const found: RunSite[] = [];
  const numberOf = (site: number): number => {
    const { key, pass, frames, userFrame } = cursor.site(site) ?? NO_SITE;
    const frame = frames[userFrame];
    return found.push({ key, pass, line: frame === undefined ? '' : `${frame.file}:${frame.line}` }) - 1;
  };
  const site = Uint32Array.from(rows, row => remembered(sites, row.site, () => numberOf(row.site)));
  const column = (of: (row: Row) => number): Float64Array => Float64Array.from(rows, of);
  return {
    count: rows.length,
    address: column(row => row.address),
    bytes: column(row => row.bytes),
    begin: column(row => row.begin),
    end: column(row => row.end),
    step: column(row => row.step),
    site,
    category: Uint8Array.from(rows, row => row.category),
    module: Uint32Array.from(rows, row => row.module),
    failed: Uint8Array.from(rows, row => (row.failed ? 1 : 0)),
    sites: found,
  };
}

/** Of the driver's memory, what tensors lie in; of expandable segments, the parts that were mapped. */
function segmentsOf(rows: readonly Row[], driver: readonly DriverRow[]): Pick<RecordedRun, 'segments' | 'expandable'> {
  const changes = driver
    .filter(({ kind }) => kind === DEVICE_ALLOC)
    .flatMap(one => [
      { place: one.begin, one, added: [one] },
      { place: one.end, one, added: [] },
    ])
    .toSorted((a, b) => a.place - b.place);
  const live: DriverRow[] = []; // by address
  const used = new Set<DriverRow>();
  const behind = (address: number): number => firstWhere(live.length, at => (live[at]?.address ?? 0) > address);
  let next = 0;
  for (const row of rows) {
    for (let change = changes[next]; change !== undefined && change.place < row.begin; change = changes[++next]) {
      const removed = 1 - change.added.length;
      live.splice(behind(change.one.address) - removed, removed, ...change.added);
    }
    const one = live[behind(row.address) - 1];
    if (one !== undefined && row.address < one.address + one.bytes) used.add(one);
  }
  const pieces = driver.filter(({ kind }) => kind === PHYSICAL_CREATE);
  const expandable = used.size === 0 && pieces.length > 0;
  const segments = (expandable ? pieces : [...used]).toSorted((a, b) => a.begin - b.begin);
  return { segments, expandable };
}

export function categoryOf(run: RecordedRun, allocation: number): Category {
  return CATEGORIES[run.category[allocation] ?? 0] ?? 'other';
}

export const passOf = (run: RecordedRun, allocation: number): Pass =>
  run.sites[run.site[allocation] ?? 0]?.pass ?? 'other';
