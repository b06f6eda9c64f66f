import type { AllocationQuery, AllocationWindow, Totals, TraceSource } from '../protocol/trace';

const WINDOW_ROWS = 10_000;

/**
 * A trace of which only those allocations are listed that were made from `fromNs` on and are alive. Live bytes and counts are
 * theirs; peaks and the numbers of allocations and frees stay those of the whole.
 */
export function bornSince(source: TraceSource, fromNs: number): TraceSource {
  const info = source.info();
  const born = (query: AllocationQuery): AllocationWindow => bornAllocations(source, query, fromNs);
  const totals = info.totals.map(total => ({ ...total, ...bornTotal(total, born) }));
  return {
    info: () => ({ ...info, totals }),
    sites: query =>
      source.sites({ ...query, includeDead: false, bornFromNs: fromNs, bornToNs: Math.ceil(info.durationNs) }),
    allocations: born,
    site: id => source.site(id),
    timeline: query => source.timeline(query),
    siteSeries: query => source.siteSeries(query),
    ledgerSeries: query => source.ledgerSeries(query),
    freeLines: site => source.freeLines(site),
    fragmentation: query => source.fragmentation(query),
    segments: query => source.segments(query),
    blocks: query => source.blocks(query),
    answer: query => source.answer(query),
  };
}

function bornTotal(
  { process, device, layer }: Totals,
  born: (query: AllocationQuery) => AllocationWindow,
): Pick<Totals, 'liveBytes' | 'liveCount'> {
  const { total, sumBytes } = born({ process, device, layer, sort: 'bytes', descending: true, from: 0, to: 0 });
  return { liveBytes: sumBytes, liveCount: total };
}

function bornAllocations(source: TraceSource, query: AllocationQuery, fromNs: number): AllocationWindow {
  let all = emptyWindow(source.info().revision);
  for (let from = 0; ; from += WINDOW_ROWS) {
    const window = source.allocations({ ...query, from, to: from + WINDOW_ROWS });
    all = joined(all, window, row => (window.timeNs[row] ?? 0) >= fromNs);
    if (window.rows < WINDOW_ROWS) break;
  }
  const slice = joined(emptyWindow(all.revision), all, row => row >= query.from && row < query.to);
  return { ...slice, total: all.rows, sumBytes: all.bytes.reduce((sum, bytes) => sum + bytes, 0) };
}

/** The rows of `more` that are wanted, behind those of `window`. */
function joined(window: AllocationWindow, more: AllocationWindow, wanted: (row: number) => boolean): AllocationWindow {
  const rows = Array.from({ length: more.rows }, (_, row) => row).filter(wanted);
  const columns = Object.entries(window).map(([name, column]: [string, unknown]) => {
    if (typeof column === 'number') return [name, column];
    const added = more[name as keyof AllocationWindow] as ArrayLike<unknown>;
    const { constructor } = column as { constructor: { from(values: unknown[]): unknown } };
    return [name, constructor.from([...(column as Iterable<unknown>), ...rows.map(row => added[row])])];
  });
  return { ...(Object.fromEntries(columns) as AllocationWindow), rows: window.rows + rows.length };
}

function emptyWindow(revision: number): AllocationWindow {
  return {
    revision,
    total: 0,
    rows: 0,
    sumBytes: 0,
    address: new BigUint64Array(),
    bytes: new Float64Array(),
    device: new Int32Array(),
    process: new Int32Array(),
    thread: new Int32Array(),
    layer: [],
    site: new Uint32Array(),
    timeNs: new Float64Array(),
    stream: new BigUint64Array(),
    kind: new Uint8Array(),
    step: new Float64Array(),
    ageSteps: new Float64Array(),
    name: [],
    category: [],
  };
}
