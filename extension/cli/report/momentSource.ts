import type { NativeAddon, NativeTrace } from '../../native/addon';
import type { TraceSource } from '../../protocol/trace';

/** The trace, read up to `untilNs`, as it was at that moment: it lasted until then, whether something happened last or not. */
export function asAt(source: TraceSource, untilNs: number): TraceSource {
  const then = source.info();
  const info = { ...then, durationNs: untilNs, live: then.processes.some(({ ended }) => !ended) };
  return but(source, { info: () => info });
}

/** The same where the programs have ended by now: there is nothing to wait for. */
export function asEnded(source: TraceSource): TraceSource {
  const processes = source.info().processes.map(process => ({ ...process, ended: true }));
  const info = { ...source.info(), processes };
  return but(source, { info: () => info });
}

/**
 * A trace of which only those allocations are listed that were made from `fromNs` on and are alive. Live bytes and counts are
 * theirs; peaks and the numbers of allocations and frees stay those of the whole.
 */
export function bornSince(source: TraceSource, fromNs: number): TraceSource {
  const info = source.info();
  const born = { bornFromNs: fromNs, bornToNs: Math.floor(info.durationNs) + 1 };
  const totals = info.totals.map(total => {
    const { process, device, layer } = total;
    const query = { process, device, layer, sort: 'bytes', descending: true, from: 0, to: 0 } as const;
    const alive = source.allocations({ ...query, ...born });
    return { ...total, liveBytes: alive.sumBytes, liveCount: alive.total };
  });
  return but(source, {
    info: () => ({ ...info, totals }),
    sites: query => source.sites({ ...query, ...born, includeDead: false }),
    allocations: query => source.allocations({ ...query, ...born }),
  });
}

/** Reads the trace of a session as it was at a time; null: as it is. */
export async function atMoment<T>(
  { addon, session, path }: { addon: NativeAddon; session: NativeTrace; path: string },
  untilNs: number | null,
  read: (session: NativeTrace) => T,
): Promise<T> {
  if (untilNs === null) return read(session);
  const then = addon.open(path, { untilNs });
  try {
    await then.settle(session);
    return read(then);
  } finally {
    then.close();
  }
}

/** The trace, but for these answers. */
function but(source: TraceSource, own: Partial<TraceSource>): TraceSource {
  return new Proxy(source, {
    get(of, name): unknown {
      const found: unknown = Reflect.get(name in own ? own : of, name);
      return typeof found === 'function' ? (found as () => unknown).bind(of) : found;
    },
  });
}
