import type { LifetimeCursor } from '../native/native';
import { CATEGORIES, LAYERS, type Category, type Pass } from '../protocol/trace';

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
}

interface RunSite {
  /** The same in every run of the program. */
  key: string;
  pass: Pass;
}

/** `begin`, `end`: as of allocations. */
export interface RunSegment {
  bytes: number;
  begin: number;
  end: number;
}

interface Row extends RunSegment {
  address: number;
  step: number;
  site: number;
  category: number;
  module: number;
}
interface DriverRow extends RunSegment {
  address: number;
  kind: number;
}

/** Reads the allocations of a process on a GPU. The error is one sentence. */
export async function readRun(
  cursor: LifetimeCursor,
  process: number,
  device: number,
): Promise<RecordedRun | { error: string }> {
  const rows: Row[] = [];
  const driver: DriverRow[] = [];
  const modules = new Map<string, number>();
  const numberOf = (module: string): number => {
    const known = modules.get(module);
    if (known === undefined) modules.set(module, modules.size);
    return known ?? modules.size - 1;
  };
  for (let batch = await cursor.next(BATCH); batch !== null; batch = await cursor.next(BATCH)) {
    const own = batch.modules.map(numberOf);
    for (let row = 0; row < batch.rows; row++) {
      if (batch.process[row] !== process || batch.device[row] !== device) continue;
      const times = { begin: batch.beginNs[row] ?? 0, end: endOf(batch.endNs[row]) };
      const size = { address: Number(batch.address[row]), bytes: batch.bytes[row] ?? 0 };
      if (batch.layer[row] === DRIVER) driver.push({ ...times, ...size, kind: batch.kind[row] ?? 0 });
      if (batch.layer[row] !== TENSOR || size.bytes === 0) continue;
      if (rows.length === MOST_ALLOCATIONS)
        return { error: 'it has too many allocations to hold at once; trace fewer steps' };
      rows.push({
        ...times,
        ...size,
        step: batch.stepBegin[row] ?? 0,
        site: batch.site[row] ?? 0,
        category: batch.category[row] ?? 0,
        module: own[batch.module[row] ?? 0] ?? 0,
      });
    }
  }
  rows.sort((a, b) => a.begin - b.begin);
  const segments = segmentsOf(rows, driver);
  rank([...rows, ...driver]);
  return { ...columnsOf(rows, cursor), modules: [...modules.keys()], ...segments };
}

/** Times become places in their order; what ends comes before what begins at the same time. */
function rank(all: readonly RunSegment[]): void {
  const key = (at: number): number => {
    const one = all[at >> 1];
    return (at & 1 ? one?.end : one?.begin) ?? 0;
  };
  const order = Uint32Array.from({ length: 2 * all.length }, (_, at) => at).sort(
    (a, b) => key(a) - key(b) || (b & 1) - (a & 1) || a - b,
  );
  const places = new Float64Array(order.length);
  order.forEach((at, place) => (places[at] = key(at) === Infinity ? Infinity : place + 1));
  all.forEach((one, at) => Object.assign(one, { begin: places[2 * at], end: places[2 * at + 1] }));
}

const endOf = (endNs: number | undefined): number => (endNs === undefined || Number.isNaN(endNs) ? Infinity : endNs);

function columnsOf(
  rows: readonly Row[],
  cursor: LifetimeCursor,
): Omit<RecordedRun, 'modules' | 'segments' | 'expandable'> {
  const sites = new Map<number, number>();
  const found: RunSite[] = [];
  const site = Uint32Array.from(rows, row => {
    const known = sites.get(row.site);
    if (known !== undefined) return known;
    const { key, pass } = cursor.site(row.site) ?? { key: '', pass: 'other' as const };
    sites.set(row.site, found.length);
    return found.push({ key, pass }) - 1;
  });
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
    sites: found,
  };
}

/** Of the driver's memory, what tensors lie in; of expandable segments, the parts that were mapped. */
function segmentsOf(rows: readonly Row[], driver: readonly DriverRow[]): Pick<RecordedRun, 'segments' | 'expandable'> {
  const whole = driver.filter(({ kind }) => kind === DEVICE_ALLOC).toSorted((a, b) => a.address - b.address);
  const used = new Set<DriverRow>();
  for (const row of rows) {
    const behind = firstAbove(whole, row.address);
    for (let at = behind - 1; at >= 0 && at >= behind - 8; at--) {
      const one = whole[at];
      const lies = one !== undefined && row.address < one.address + one.bytes;
      if (lies && one.begin <= row.begin && row.begin < one.end) used.add(one);
    }
  }
  const pieces = driver.filter(({ kind }) => kind === PHYSICAL_CREATE);
  const expandable = used.size === 0 && pieces.length > 0;
  const segments = (expandable ? pieces : [...used]).toSorted((a, b) => a.begin - b.begin);
  return { segments, expandable };
}

function firstAbove(sorted: readonly DriverRow[], address: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.address ?? 0) <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function categoryOf(run: RecordedRun, allocation: number): Category {
  return CATEGORIES[run.category[allocation] ?? 0] ?? 'other';
}
