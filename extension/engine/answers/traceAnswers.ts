import { holderOfBlock } from '../../analysis/findings/blockHolder';
import { readCards } from '../../analysis/ledger/cardLedger';
import { CallTree } from '../../report/trees/callTree';
import { moduleTree } from '../../report/trees/moduleTree';
import { stackTree } from '../../report/trees/stackTree';
import type { TraceSession } from '../../native/traceSession';
import type { BlockQuery, BlockRequests } from '../../protocol/requests/blockRequests';
import type { LedgerRequests } from '../../protocol/requests/ledgerRequests';
import type { SegmentPlaces, SegmentRequests } from '../../protocol/requests/segmentRequests';
import type { TraceRequests } from '../../protocol/requests/traceRequests';
import type { TreeRequests } from '../../protocol/requests/treeRequests';
import type { AllocationWindow, SegmentMap, SegmentQuery, TraceSource } from '../../protocol/trace';
import type { Answers, PageModel } from './answers';
import { bornIn, sourceOf } from './source';
import { remembered } from '../../base/maps';

const MOST_SITES = 100_000;

const trees = new WeakMap<TraceSession, { calls: CallTree; modules: CallTree }>();

export function traceAnswers(
  model: PageModel,
): Answers<TraceRequests & LedgerRequests & Omit<BlockRequests, 'copyText'> & SegmentRequests & TreeRequests> {
  const { session, verdicts } = model.shown;
  return {
    freeLines: async ({ site, moment }) => (await sourceOf(model, moment)).source.freeLines(site),
    ledger: async ({ moment }) => readCards((await sourceOf(model, moment)).source),
    sites: async ({ moment, ...query }) => {
      const at = await sourceOf(model, moment);
      return at.source.sites({ ...query, ...bornIn(at) });
    },
    site: async ({ id, moment }) => (await sourceOf(model, moment)).source.site(id),
    timeline: ({ series }) => series.map(query => session.native.timeline(query)),
    allocations: async ({ moment, ...query }) => {
      const at = await sourceOf(model, moment);
      return at.source.allocations({ ...query, ...bornIn(at) });
    },
    block: async ({ moment, ...query }) => findBlock((await sourceOf(model, moment)).source, query),
    blockHolder: query => holderOfBlock(session.native, query),
    inspectBlock: query => verdicts.inspectBlock(query),
    segments: async ({ moment, ...query }) => {
      const { source } = await sourceOf(model, moment);
      const map = source.segments(query);
      return { map, places: placesOf(source, query, map) };
    },
    stackTree: async ({ moment, ...query }) => {
      const tree = remembered(trees, session, () => ({ calls: new CallTree(), modules: new CallTree() }));
      const at = await sourceOf(model, moment);
      const of = { ...query, ...bornIn(at) };
      return query.weight === 'modules'
        ? moduleTree(tree.modules, at.source, of)
        : stackTree(tree.calls, at.source, of);
    },
  };
}

/** The block among the live ones of its site. */
function findBlock(trace: TraceSource, { process, site, address }: BlockQuery): AllocationWindow | null {
  const found = trace.allocations({ process, site, address, sort: 'address', descending: false, from: 0, to: 1 });
  return found.total === 0 ? null : found;
}

/** All sites that hold something in a map of segments, in one question. */
function placesOf(source: TraceSource, { process, device }: SegmentQuery, map: SegmentMap): SegmentPlaces {
  const layer = map.source === 'framework' ? 'tensor' : 'driver';
  const order = { groupBy: 'site', sort: 'liveBytes', descending: true, from: 0, to: MOST_SITES } as const;
  const { id, file, line, ...rows } = source.sites({ layer, process, device, ...order });
  return { site: id, file, line, function: rows.function };
}
