import { libraryName } from '../../text/libraryName';
import { groupBy, remembered } from '../../base/maps';
import type { TraceSource } from '../../protocol/trace';
import type { LedgerLibrary } from '../../protocol/verdicts';
import { layerOf } from './ledgerLayer';
import { at, sum, sumAll } from '../series/statistics';

/** Sites of the driver layer that are read, the biggest; a program has some dozens. */
const SITES = 500;
/** What PyTorch's caching allocator takes its segments with, also where its reports do not list them. */
const ALLOCATOR = /\/(libc10_(cuda|hip)\.so$|torch_memory_saver_)/;

/** One library's driver memory on a device, with its series. */
export interface LibrarySeries extends LedgerLibrary {
  sites: number[];
  /** By step: bytes at its end. */
  steps: number[];
  values: number[];
}

/**
 * The driver memory of a process on a device outside a framework's segments, by the library that called; biggest first.
 * `cached`: PyTorch's allocator keeps a cache there (it can be switched off; then what it takes is listed as any library's).
 */
export function readLibraries(
  source: TraceSource,
  process: number,
  device: number,
  options: { points: number; cached: boolean },
): LibrarySeries[] {
  const { points, cached } = options;
  const order = { sort: 'liveBytes', descending: true, includeDead: true, from: 0, to: SITES } as const;
  const rows = source.sites({ layer: 'driver', groupBy: 'site', process, device, ...order });
  const sites = Array.from(rows.id);
  if (sites.length === 0) return [];
  const series = source.siteSeries({ process, layer: 'driver', sites, from: 0, to: sites.length, points });
  const rowOf = new Map(Array.from(series.id, (site, row) => [site, row]));
  const steps = Array.from(series.last);
  const libraries = new Map<string, LibrarySeries>();
  sites.forEach((site, i) => {
    const row = rowOf.get(site);
    const path = rows.library[i] ?? '';
    if (row === undefined || at(series.segmentAllocations, row) > 0 || (cached && ALLOCATOR.test(path))) return;
    const library = remembered(libraries, path, () => emptyLibrary(path, steps));
    library.bytes += at(rows.liveBytes, i);
    library.sites.push(site);
    for (let step = 0; step < steps.length; step++)
      library.values[step] = at(library.values, step) + at(series.liveBytes, row * steps.length + step);
  });
  for (const library of libraries.values())
    library.bytesPerStep = layerOf(steps, Float64Array.from(library.values)).bytesPerStep;
  return [...libraries.values()].sort(knownFirst);
}

function emptyLibrary(path: string, steps: number[]): LibrarySeries {
  const name = path === '' ? 'other' : libraryName(path);
  return { path, name, bytes: 0, bytesPerStep: null, sites: [], steps, values: steps.map(() => 0) };
}

function knownFirst(a: LedgerLibrary, b: LedgerLibrary): number {
  return Number(a.path === '') - Number(b.path === '') || b.bytes - a.bytes;
}

/** The same libraries of several processes, or of no more than a ledger shows. */
export function joinLibraries(all: readonly LedgerLibrary[]): LedgerLibrary[] {
  const joined = [...groupBy(all, ({ path }) => path)].map(([path, same]) => ({
    ...{ path, name: same[0].name, bytes: sum(same.map(({ bytes }) => bytes)) },
    bytesPerStep: sumAll(same.map(({ bytesPerStep }) => bytesPerStep)),
  }));
  return joined.filter(({ bytes }) => bytes > 0).sort(knownFirst);
}

/**
 * The libraries of a part of the ledger, with `other` for the rest of its bytes; nothing where no library is known, so that
 * nothing could be shown but its sum.
 */
export function librariesOf(bytes: number, all: readonly LedgerLibrary[]): LedgerLibrary[] {
  const joined = joinLibraries(all);
  const known = joined.filter(({ path }) => path !== '');
  if (known.length === 0) return [];
  const rest = bytes - sum(known.map(library => library.bytes));
  if (rest <= 0) return known;
  const other = joined.find(({ path }) => path === '');
  return [...known, { path: '', name: 'other', bytes: rest, bytesPerStep: other?.bytesPerStep ?? null }];
}
