// Answers the page's requests from what its file holds.
import { remembered } from '../../extension/base/maps';
import { cwdOf } from '../../extension/protocol/cwd';
import { recordedKey } from '../../extension/protocol/requests/recorded';
import type { Method, Params, Result, SessionView } from '../../extension/protocol/requests/messages';
import { NOW, type Moment } from '../../extension/protocol/requests/moment';
import { compareHoldings, readHoldings } from '../../extension/report/gate/compareHoldings';
import { CallTree, type TreeSource } from '../../extension/report/trees/callTree';
import { moduleTree } from '../../extension/report/trees/moduleTree';
import { stackTree } from '../../extension/report/trees/stackTree';
import type { SiteQuery, TraceSource } from '../../extension/protocol/trace';
import { allocationWindowOf, notHere, siteWindowOf } from './recordedRows';
import { passesIn, rangesIn, timelineOf } from './recordedTimeline';
import type { ValueOf } from './unpack';

type Handlers = { [M in Method]?: (of: Params<M>) => Result<M> | Promise<Result<M>> };
type RowSource = Pick<TraceSource, 'sites' | 'site'>;

export class RecordedAnswers {
  private readonly trees = { calls: new CallTree(), modules: new CallTree() };
  /** By their moments: a tree has stacks by the source that they are from. */
  private readonly sources = new Map<string, RowSource & TreeSource>();
  private readonly handlers: Handlers = {
    sites: query => siteWindowOf(this.recorded('sites', query), query),
    site: ({ id, moment }) => this.ofSite('site', id, { id, moment }),
    freeLines: ({ site, moment }) => this.ofSite('freeLines', site, { site, moment }),
    verdicts: ({ sites, groupBy }) => {
      const wanted = new Set(sites);
      return this.recorded('verdicts', { sites, groupBy }).filter(({ site }) => wanted.has(site));
    },
    allocations: query => allocationWindowOf(this.recorded('allocations', query), query),
    block: ({ moment, address, ...block }) => this.block(BigInt(address), { ...block, ...(moment && { moment }) }),
    blockHolder: () => null,
    timeline: ({ series }) =>
      series.map(one => timelineOf(this.recorded('timeline', one as never)[0] ?? new Float64Array(), one)),
    passes: query => passesIn(this.recorded('passes', query), query),
    ranges: query => rangesIn(this.recorded('ranges', query), query),
    peakInside: query => {
      const peak = this.recorded('peakInside', query);
      return peak.toNs >= query.fromNs && peak.fromNs <= query.toNs ? peak : notHere();
    },
    stackTree: ({ moment, ...query }) => {
      const source = this.at(moment);
      return query.weight === 'modules'
        ? moduleTree(this.trees.modules, source, query)
        : stackTree(this.trees.calls, source, query);
    },
    compare: query => this.compare(query),
    copyText: ({ text }) => this.copy(text),
    openLine: ({ file, line }) => this.copy(`${file}:${line}`),
    cancelMoments: () => undefined,
    setRoom: () => undefined,
    setMoment: () => undefined,
  };

  constructor(
    private readonly session: SessionView,
    private readonly valueOf: ValueOf,
    private readonly copy: (text: string) => Promise<void>,
  ) {}

  /** Throws one sentence where the file has no answer. */
  answer(method: Method, params: unknown): unknown {
    const handler = this.handlers[method] as ((of: unknown) => unknown) | undefined;
    return handler ? handler(params) : this.recorded(method, params as never);
  }

  private recorded<M extends Method>(method: M, params: Params<M>): Result<M> {
    const found = this.valueOf(recordedKey(method, params, this.session.moments ?? []));
    return found === undefined ? notHere() : (found as Result<M>);
  }

  private at(moment: Moment = NOW): RowSource & TreeSource {
    return remembered(this.sources, JSON.stringify(moment), () => ({
      sites: (query: SiteQuery) => this.answer('sites', { ...query, moment }) as Result<'sites'>,
      site: (id: number) => this.ofSite('site', id, { id, moment }),
    }));
  }

  private ofSite<M extends 'site' | 'freeLines'>(method: M, site: number, params: Params<M>): Result<M> {
    const found = (this.recorded(method, params) as unknown as Record<number, unknown>)[site];
    return found === undefined ? notHere() : (found as Result<M>);
  }

  private block(address: bigint, { site, moment }: { site: number; moment?: Moment }): Result<'block'> {
    const order = { sort: 'address', descending: false, from: 0, to: Infinity } as const;
    const layer = this.ofSite('site', site, { id: site, moment })?.layer ?? 'tensor';
    const all = this.recorded('allocations', { ...order, layer, moment });
    const found = allocationWindowOf(all, { ...order, site }, address);
    return found.rows === 0 ? null : found;
  }

  private compare({ a, b, by, layer, process, device, rows }: Params<'compare'>): Result<'compare'> {
    const { ending, info } = this.session;
    const holdings = ({ timeNs }: typeof a) => {
      const at = timeNs ?? ending?.timeNs ?? null;
      const source = this.at(at === null ? NOW : { kind: 'at', timeNs: at });
      return readHoldings(source, { by, layer, process, device });
    };
    const cwd = cwdOf(info?.session ?? {});
    return compareHoldings(holdings(a), holdings(b), { cwdA: cwd, cwdB: cwd, sameRun: true }, rows);
  }
}
