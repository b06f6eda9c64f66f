import type { CardLedger, LedgerLine, LedgerPart, LedgerPartKind } from '../../protocol/requests/ledgerRequests';
import { type DeviceInfo, type LedgerSeries, siteRows, type TraceInfo, type TraceSource } from '../../protocol/trace';
import { lastKnown, layerOf, liveBytes, reservedNow } from './ledgerLayer';
import { pausedIn, unusedIn } from './pools';
import { librariesOf, readLibraries } from './libraries';
import { at, sumAll, sumKnown } from '../series/statistics';

// The card's memory as one sum: what is alive now from the counts of this moment, what lies around it from the card's own
// account (NVML) as it was read last.

const POINTS = 64;
const SITES = 40;
const LINES = 3;

/** What is known of a card; bytes. null: the card was not queried, or does not report it. */
export interface CardFacts {
  totalBytes: number;
  /** Of those that are not paused. */
  tensorBytes: number;
  /** As the framework's allocator reported last; null: it was not queried. */
  pendingBytes: number | null;
  /** Unused, in pools of captured graphs and MemPools. */
  poolBytes: number;
  reservedBytes: number;
  driverBytes: number;
  /** Of the traced processes by the card's account, less what their traced calls held at that moment. */
  restBytes: number | null;
  /** In use by all, less what the traced processes held at that moment. */
  othersBytes: number | null;
  /** In use by all, less what traced calls held at that moment: `rest` and `others` in one. */
  untracedBytes: number | null;
}

/** The ledger of each card that was used, or of all where none was. */
export function readCards(source: TraceSource): CardLedger[] {
  const info = source.info();
  const used = info.devices.filter(device => info.totals.some(total => total.device === device.index));
  return (used.length > 0 ? used : info.devices).map(device => readCard(source, info, device));
}

function readCard(source: TraceSource, info: TraceInfo, device: DeviceInfo): CardLedger {
  const totals = info.totals.filter(total => total.device === device.index);
  const processes = [...new Set(totals.map(total => total.process))];
  const known = processes.filter(process => info.steps.some(steps => steps.process === process));
  const series = known.map(process => source.ledgerSeries({ process, device: device.index, points: POINTS }));
  const reserved = reservedNow(source, info, device.index) ?? 0;
  const pools = source.pools().filter(pool => pool.device === device.index);
  const { parts, overBytes } = partsOf({
    totalBytes: device.totalBytes,
    tensorBytes: liveBytes(info, 'tensor', { device: device.index }) - pausedIn(pools),
    pendingBytes: sumKnown(series.map(one => lastKnown(one.pendingBytes))),
    poolBytes: unusedIn(pools),
    reservedBytes: reserved,
    driverBytes: liveBytes(info, 'driver', { device: device.index }),
    ...outside(series, known.length === processes.length),
  });
  addSlopes(parts, series);
  for (const part of parts) {
    if (part.kind !== 'driver' || part.bytes === 0) continue;
    part.lines = otherLines(source, known, device);
    const options = { points: POINTS, cached: reserved > 0 };
    const libraries = known.flatMap(process => readLibraries(source, process, device.index, options));
    part.libraries = librariesOf(part.bytes, libraries);
  }
  return { device: device.index, name: device.name, totalBytes: device.totalBytes, overBytes, parts };
}

/** The parts of a card in the order of its bar; they sum to its total, or to what was handed out where that is more. */
export function partsOf(facts: CardFacts): { parts: LedgerPart[]; overBytes: number } {
  const reserved = Math.max(facts.reservedBytes, facts.tensorBytes);
  const driver = Math.max(facts.driverBytes, reserved);
  // It was read a step ago: what is reserved now bounds it.
  const pending = Math.min(facts.pendingBytes ?? 0, reserved - facts.tensorBytes);
  const pools = Math.min(facts.poolBytes, reserved - facts.tensorBytes - pending);
  const { restBytes, othersBytes, untracedBytes, totalBytes } = facts;
  const sizes: [LedgerPartKind, number][] = [
    ['tensor', facts.tensorBytes],
    ['cached', reserved - facts.tensorBytes - pending - pools],
    ['driver', driver - reserved],
  ];
  if (facts.pendingBytes !== null) sizes.splice(1, 0, ['pending', pending]);
  if (pools > 0) sizes.splice(-2, 0, ['pools', pools]);
  if (restBytes !== null) sizes.push(['rest', restBytes]);
  if (othersBytes !== null) sizes.push(['others', othersBytes]);
  else if (restBytes === null && untracedBytes !== null) sizes.push(['untold', untracedBytes]);
  const left = totalBytes - sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  sizes.push([untracedBytes === null ? 'unknown' : 'free', Math.max(0, left)]);
  const parts = sizes.map(([kind, bytes]) => ({ kind, bytes, bytesPerStep: null, lines: [], libraries: [] }));
  return { parts, overBytes: Math.max(0, -left) };
}

/** The account of the card less what was traced, both of the same moment: a reading is older than the counts of now. */
function outside(
  series: readonly LedgerSeries[],
  all: boolean,
): Pick<CardFacts, 'restBytes' | 'othersBytes' | 'untracedBytes'> {
  const none = { restBytes: null, othersBytes: null, untracedBytes: null };
  if (series.length === 0) return none;
  const rests = series.map(one => lastKnown(difference(one.processBytes, one.tracedBytes)));
  const held = sumAll(series.map(one => lastKnown(one.processBytes)));
  const traced = sumAll(series.map(one => lastKnown(one.tracedBytes)));
  const used = series.toSorted((a, b) => (b.endNs.at(-1) ?? 0) - (a.endNs.at(-1) ?? 0))[0]?.usedBytes;
  const usedBytes = used === undefined ? null : lastKnown(used);
  const rest = all ? sumAll(rests) : null;
  return {
    restBytes: rest === null ? null : Math.max(0, rest),
    othersBytes: rest === null || usedBytes === null || held === null ? null : Math.max(0, usedBytes - held),
    untracedBytes: usedBytes === null || traced === null ? null : Math.max(0, usedBytes - traced),
  };
}

function difference(outer: Float64Array, inner: Float64Array): Float64Array {
  return outer.map((bytes, i) => bytes - at(inner, i));
}

/** Where the allocator reports what waits for a stream, only the steps in which it did can be compared. */
function unusedOf({ reservedBytes, tensorBytes, pendingBytes }: LedgerSeries): Float64Array {
  const unused = difference(reservedBytes, tensorBytes);
  return pendingBytes.every(Number.isNaN) ? unused : difference(unused, pendingBytes);
}

/** Growth of each part by itself, summed over the processes; null where one is not known, or its steps are only slices of time. */
function addSlopes(parts: LedgerPart[], series: readonly LedgerSeries[]): void {
  const pick: Partial<Record<LedgerPartKind, (one: LedgerSeries) => Float64Array>> = {
    tensor: one => one.tensorBytes,
    pending: one => one.pendingBytes,
    cached: unusedOf,
    driver: one => difference(one.driverBytes, one.reservedBytes),
    rest: one => difference(one.processBytes, one.tracedBytes),
  };
  for (const part of parts) {
    const values = pick[part.kind];
    if (values === undefined || series.length === 0 || series.some(one => one.source === 'time')) continue;
    part.bytesPerStep = sumAll(series.map(one => layerOf(Array.from(one.last), values(one)).bytesPerStep));
  }
}

/** The biggest lines of the driver layer that allocate no segment of the framework. */
function otherLines(source: TraceSource, processes: readonly number[], device: DeviceInfo): LedgerLine[] {
  const lines = processes.flatMap(process => {
    const query = { layer: 'driver', from: 0, to: SITES } as const;
    const order = { groupBy: 'site', sort: 'liveBytes', descending: true } as const;
    const rows = siteRows(source.sites({ ...query, ...order, process, device: device.index }));
    if (rows.length === 0) return [];
    const sites = rows.map(row => row.id);
    const { id, segmentAllocations } = source.siteSeries({ ...query, process, sites, points: 16 });
    const segments = new Set(Array.from(id).filter((_, i) => at(segmentAllocations, i) > 0));
    const own = rows.filter(row => row.liveBytes > 0 && !segments.has(row.id));
    return own.map(({ liveBytes: bytes, file, line, function: name, library }): LedgerLine => {
      return { bytes, file, line, function: name, library };
    });
  });
  return lines.sort((a, b) => b.bytes - a.bytes).slice(0, LINES);
}
