// A run of plain blocks as a trace, with lines of source for its sites.
import type {
  AllocationQuery,
  AllocationWindow,
  Answer,
  BlockFacts,
  Fragmentation,
  Frame,
  FreeLine,
  LedgerSeries,
  LedgerSeriesQuery,
  Note,
  OutOfMemory,
  Pool,
  SiteQuery,
  SiteSeries,
  SiteSeriesQuery,
  SiteWindow,
  Totals,
  TraceInfo,
} from '../../../extension/protocol/trace';
import { FakeTrace, makeInfo, makeProcess, makeSite, makeTotals } from '../fakeTrace';
import type { StepRun } from './stepRun';

export const SCRIPT = '/home/user/train.py';

export interface RunFacts {
  /** The process has ended: it has, unless told. */
  ended?: boolean;
  exitCode?: number;
  /** Line of the script by site. */
  lines?: Record<number, number>;
  /** Whole stacks by site, innermost first; the last frame is the user's. */
  frames?: Record<number, Frame[]>;
  lost?: TraceInfo['lost'];
  outOfMemory?: OutOfMemory[];
  outOfMemoryCount?: number;
  /** JSON of the agent, and the blocks that stand in it. */
  answers?: { text: string; blocks: BlockFacts[] }[];
  freeLines?: Record<number, FreeLine[]>;
  /** By step from 1: what the ledger's layers hold at its end. */
  ledger?: Partial<Record<LedgerColumn, (step: number) => number>>;
  fragmentation?: Fragmentation;
  totalBytes?: number;
  pools?: Pool[];
  /** Of a loop: how long the program went on since its newest round began. */
  idleNs?: number;
  /** Until when it is known which pool has which memory. */
  poolsNs?: number;
  /** Of a loop: one line alone allocates in it. */
  alone?: boolean;
  /** Names of threads by index. */
  threads?: string[];
  notes?: Note[];
}
type LedgerColumn = 'tensor' | 'tensorMax' | 'reserved' | 'driver' | 'process' | 'used' | 'pending';

export class RunTrace extends FakeTrace {
  constructor(
    private readonly run: StepRun,
    private readonly facts: RunFacts = {},
  ) {
    super(infoOf(run, facts), [], sitesOf(run, facts), facts.ledger?.reserved?.(run.count) ?? null);
  }

  override sites(query: SiteQuery): SiteWindow {
    const window = super.sites({ ...query, includeDead: true });
    const bytes = (site: number): number => this.run.blocks(site).reduce((sum, block) => sum + block.bytes, 0);
    return { ...window, liveBytes: Float64Array.from(window.id, bytes) };
  }

  override siteSeries(query: SiteSeriesQuery): SiteSeries {
    return this.run.series(query);
  }

  override ledgerSeries({ device, points }: LedgerSeriesQuery): LedgerSeries {
    const axis = this.run.axis(points);
    const column = (name: LedgerColumn): Float64Array =>
      axis.last.map(step => this.facts.ledger?.[name]?.(step) ?? NaN);
    const tensorMax = this.facts.ledger?.tensorMax === undefined ? column('tensor') : column('tensorMax');
    return {
      ...axis,
      device,
      tensorBytes: column('tensor'),
      tensorMaxBytes: tensorMax,
      tensorMaxNs: tensorMax.map(() => NaN),
      reservedBytes: column('reserved'),
      reservedMaxBytes: column('reserved'),
      driverBytes: column('driver'),
      driverMaxBytes: column('driver'),
      hostBytes: column('tensor').fill(NaN),
      hostMaxBytes: column('tensor').fill(NaN),
      processBytes: column('process'),
      usedBytes: column('used'),
      totalBytes: column('tensor').fill(this.facts.totalBytes ?? NaN),
      tracedBytes: column('driver'),
      pendingBytes: column('pending'),
    };
  }

  override allocations(query: AllocationQuery): AllocationWindow {
    const window = super.allocations(query);
    if (query.site === undefined) return window;
    const blocks = this.run.blocks(query.site);
    return { ...window, total: blocks.length, sumBytes: blocks.reduce((sum, block) => sum + block.bytes, 0) };
  }

  override pools(): Pool[] {
    return this.facts.pools ?? [];
  }

  override fragmentation(): Fragmentation {
    return this.facts.fragmentation ?? super.fragmentation();
  }

  override freeLines(site: number): FreeLine[] {
    return this.facts.freeLines?.[site] ?? [];
  }

  override answer({ index }: { process: number; index: number }): Answer | null {
    const answer = this.facts.answers?.[index];
    const info = this.info().answers.find(entry => entry.index === index);
    return answer === undefined || info === undefined ? null : { ...info, ...answer };
  }
}

function infoOf(run: StepRun, facts: RunFacts): TraceInfo {
  const names = facts.threads ?? ['python'];
  return makeInfo({
    revision: run.count,
    events: 1000 * run.count,
    processes: [
      makeProcess({
        ended: facts.ended ?? true,
        exitCode: facts.exitCode ?? null,
        threads: names.map((name, index) => ({ index, tid: 10 + index, name })),
        notes: facts.notes ?? [],
      }),
    ],
    devices: [{ index: 0, name: 'GPU', totalBytes: facts.totalBytes ?? 0 }],
    totals: [makeTotals({ allocations: 1 }), ...pinnedTotals(run)],
    lost: facts.lost ?? { events: 0, byCause: {} },
    outOfMemory: facts.outOfMemory ?? [],
    outOfMemoryCount: facts.outOfMemoryCount ?? facts.outOfMemory?.length ?? 0,
    steps: [
      {
        process: 0,
        source: run.source,
        count: run.count,
        lastEndNs: run.count * 1e8,
        sure: facts.alone !== true,
        alone: facts.alone ?? false,
        parts: false,
        idleNs: facts.idleNs ?? 0,
        poolsNs: facts.poolsNs ?? 0,
        touched: run.flags.size,
      },
    ],
    answers: (facts.answers ?? []).map((answer, i) => ({
      process: 0,
      index: i,
      request: 0,
      timeNs: i,
      complete: true,
      bytes: answer.text.length,
    })),
  });
}

/** Of pinned memory, where there is any. */
function pinnedTotals(run: StepRun): Totals[] {
  const blocks = run.sites().flatMap(site => (run.factsOf(site).layer === 'host' ? run.blocks(site) : []));
  const bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
  const held = { liveBytes: bytes, liveCount: blocks.length, peakBytes: bytes, allocations: blocks.length };
  return bytes === 0 ? [] : [makeTotals({ layer: 'host', device: -1, ...held })];
}

function sitesOf(run: StepRun, facts: RunFacts) {
  return run.sites().map(id => {
    const frames = facts.frames?.[id] ?? [{ file: SCRIPT, line: facts.lines?.[id] ?? id, function: 'train' }];
    const { layer, lineSource, library } = run.factsOf(id);
    return makeSite({ id, layer, source: lineSource, frames, userFrame: frames.length - 1, library });
  });
}
