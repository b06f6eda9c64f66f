// A run beside runs of the version before: whether its peak, or what a line leaves behind in each step, has risen above a limit.
import { formatBytes, formatCount, formatPlural } from '../../text/format';
import type { ComparedRow } from '../../protocol/requests/compareRequests';
import { siteRows, type Layer, type TraceInfo, type TraceSource } from '../../protocol/trace';
import type { Verdicts } from '../../protocol/verdicts';
import { compareHoldings, ofLine, type Holding } from './compareHoldings';
import { rowVerdicts } from '../../analysis/findings/rowVerdicts';

/** What the gate reads of one run. */
export interface GatedRun {
  file: string;
  cwd: string;
  simulated: boolean;
  /** That have ended; 0: none is known. */
  steps: number;
  /** Why its figures cannot be relied on, each a sentence. */
  unknown: string[];
  peakBytes: number;
  /** Alive at the peak, by line. */
  peak: Holding[];
  /** Bytes a step, by line that leaks. */
  growth: Holding[];
}

export interface Gate {
  /** null: undecided, see `unknown`. */
  passed: boolean | null;
  /** 0.05: five percent. */
  limit: number;
  peak: {
    bytes: number;
    /** Of the base run that is highest; that is what the run is compared with. */
    baseBytes: number;
    /** From the lowest to the highest base run, as a part of the highest; null: there is only one. */
    noise: number | null;
    above: boolean;
  };
  /** Lines that hold more at the peak, those that rose most first. */
  lines: ComparedRow[];
  /** Lines that leave more behind in each step than in any base run, by more than the limit: bytes a step. */
  growth: ComparedRow[];
  unknown: string[];
}

const MOST_LINES = 10;
/** A run of fewer than this part of the other's steps cannot be compared with it. */
const FEWEST_STEPS = 0.5;
const MOST_ROWS = 100_000;

/** Bytes a step of the lines that leak. */
export function growthByLine(source: TraceSource, verdicts: Verdicts, layer: Layer): Holding[] {
  const order = { sort: 'peakBytes', descending: true, from: 0, to: MOST_ROWS, includeDead: true } as const;
  const rows = siteRows(source.sites({ layer, groupBy: 'line', ...order }));
  const ids = rows.map(({ id }) => id);
  const judged = new Map(rowVerdicts(source, verdicts, ids, 'line').map(row => [row.site, row]));
  return rows.flatMap(row => {
    const { state, bytesPerStep = 0 } = judged.get(row.id) ?? {};
    return state === 'growing' ? [ofLine(row, bytesPerStep, 1)] : [];
  });
}

/** Why the figures of a run decide nothing. `exitCode`: null: not known. */
export function unknownOf(file: string, { totals }: TraceInfo, lostEvents: number, exitCode: number | null): string[] {
  if ((exitCode ?? 0) !== 0)
    return [`${file} is from a run that ended with exit status ${exitCode}, so it may not have reached its peak.`];
  if (lostEvents > 0)
    return [`${file} has ${formatCount(lostEvents)} dropped events, so its peak may have been higher.`];
  return totals.length === 0 ? [`${file} has no GPU allocations.`] : [];
}

/** `bases`: one run, or repeats of it, which show how much the peak varies by itself. */
export function judgeGate(bases: readonly [GatedRun, ...GatedRun[]], run: GatedRun, limit: number): Gate {
  const [highest, ...others] = bases.toSorted((a, b) => b.peakBytes - a.peakBytes) as [GatedRun, ...GatedRun[]];
  const lowest = others.at(-1);
  const noise = lowest === undefined ? null : 1 - lowest.peakBytes / highest.peakBytes;
  const rowsOf = (base: GatedRun, of: 'peak' | 'growth', most: number): ComparedRow[] =>
    compareHoldings(base[of], run[of], { cwdA: base.cwd, cwdB: run.cwd, sameRun: false }, most).rows;
  const above = run.peakBytes > highest.peakBytes * (1 + limit);
  const [first, ...more] = bases.map(base => rowsOf(base, 'growth', MOST_ROWS).filter(row => rises(row, limit)));
  const growth = (first ?? []).filter(row => more.every(rows => rows.some(other => place(other) === place(row))));
  const unknown = [run, ...bases].flatMap(each => each.unknown);
  const shorter = bases.find(base => Math.min(base.steps, run.steps) < FEWEST_STEPS * Math.max(base.steps, run.steps));
  if (shorter !== undefined)
    unknown.push(
      `${run.file} has ${formatPlural(run.steps, 'step')}, ${shorter.file} ${formatPlural(shorter.steps, 'step')}.`,
    );
  if ((noise ?? 0) > limit && !above && growth.length === 0)
    unknown.push('The base runs differ by more than the limit.');
  const mixed = bases.find(base => base.simulated !== run.simulated);
  if (mixed !== undefined) unknown.push(`One of ${run.file} and ${mixed.file} was recorded on a simulated GPU.`);
  return {
    passed: unknown.length > 0 ? null : !above && growth.length === 0,
    limit,
    peak: { bytes: run.peakBytes, baseBytes: highest.peakBytes, noise, above },
    lines: rowsOf(highest, 'peak', MOST_ROWS)
      .filter(row => rises(row, 0))
      .slice(0, MOST_LINES),
    growth,
    unknown,
  };
}

const rises = ({ bytesA, bytesB }: ComparedRow, limit: number): boolean => bytesB > bytesA * (1 + limit);
const place = ({ file, line }: ComparedRow): string => `${file}:${line}`;

/** `FAILED: the peak is above the limit`, and why. */
export function gateWords({ passed, peak, growth, unknown }: Gate): string {
  if (passed === null) return `NOT JUDGED: ${unknown.join(' ')}`;
  if (passed) return 'PASSED';
  const lines = growth.length === 1 ? '1 line leaks' : `${growth.length} lines leak`;
  const reasons = [
    ...(peak.above ? ['the peak is above the limit'] : []),
    ...(growth.length > 0 ? [`${lines} more per step`] : []),
  ];
  return `FAILED: ${reasons.join('; ')}`;
}

const percent = (part: number): string => `${part > 0 ? '+' : ''}${(100 * part).toFixed(1)}%`;

/** `4.10 GiB in the base -> 4.63 GiB here (+12.9%, limit 5%)` */
export function gatePeakText({ peak: { bytes, baseBytes }, limit }: Gate): string {
  const change = baseBytes > 0 ? `${percent(bytes / baseBytes - 1)}, ` : '';
  return `${formatBytes(baseBytes)} in the base -> ${formatBytes(bytes)} here (${change}limit ${100 * limit}%)`;
}

/** How much base runs differ; what one run cannot show. */
export function noiseText({ peak: { noise }, limit }: Gate): string {
  if (noise === null)
    return 'With one base run, the normal variation of the peak is unknown. Pass several with --compare.';
  const wide = noise > limit ? ', more than the limit' : '';
  return `The peaks of the base runs differ by ${(100 * noise).toFixed(1)}%${wide}; the highest is used.`;
}
