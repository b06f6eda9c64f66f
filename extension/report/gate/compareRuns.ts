// A run beside the one of the same program before it: which leaks are gone, which are still there, and the peak.
import { t } from '@vscode/l10n';
import { areEnoughFor } from '../../analysis/sites/overallVerdict';
import { lostShareOf } from '../../analysis/sites/context';
import { rowVerdicts } from '../../analysis/findings/rowVerdicts';
import { THRESHOLDS as T } from '../../analysis/series/thresholds';
import { sum } from '../../analysis/series/statistics';
import { cwdOf } from '../../protocol/cwd';
import type { RunComparison } from '../../protocol/requests/compareRequests';
import {
  listedLayer,
  siteRows,
  type Frame,
  type Layer,
  type SiteRow,
  type TraceInfo,
  type TraceSource,
} from '../../protocol/trace';
import { isLeak, isMinor, type Finding, type Verdicts } from '../../protocol/verdicts';
import { formatBytes, formatCount, fileLine, lineName } from '../../text/format';
import { ofLine, pairLines, type Holding, type Pair } from './compareHoldings';
import { remembered } from '../../base/maps';

/** A run, and what was found in it. */
export interface JudgedRun {
  source: TraceSource;
  verdicts: Verdicts;
}

type Place = { file: string | null; line: number | null };
type Outcome = 'gone' | 'grows' | 'unknown' | 'absent';

const MOST_LINES = 20_000;
/** So many leaks are named. */
const MOST_NAMED = 3;
/** A peak that is higher by less than this part is the same. */
const NOISE = 0.05;

/** Null where there is nothing to say, or the runs cannot be compared. */
export function compareRuns(before: JudgedRun, now: JudgedRun): RunComparison | null {
  const [infoA, infoB] = [before.source.info(), now.source.info()];
  if (isSimulated(infoA) !== isSimulated(infoB) || infoB.totals.length === 0) return null;
  const beside = new Beside(before.source, now.source);
  const old = leaksIn(before.verdicts);
  const known = old.map(leak => outcomeOf(leak, beside, now));
  const fresh = leaksIn(now.verdicts).filter(leak => !old.some(one => beside.isSame(one, leak)));
  // What the run before did not come to see is not new.
  const added = areEnoughFor(before.verdicts.steps, null) ? fresh : [];
  const peak = peakOf(infoA, infoB, [before, now]);
  const all = [
    ...known.map(({ sentence }) => sentence),
    ...added.map(leak => t('{0} grows, and did not before: {1} per step.', nameOf(leak), rate(leak.bytesPerStep))),
  ];
  const more = all.length - MOST_NAMED;
  const sentences = [
    ...all.slice(0, MOST_NAMED),
    ...(more > 0 ? [more === 1 ? t('1 more leak.') : t('{0} more leaks.', formatCount(more))] : []),
    ...(peak === null ? [] : [peak.sentence]),
  ];
  if (sentences.length === 0) return null;
  const is = (outcome: Outcome): boolean => known.some(one => one.outcome === outcome);
  const bad = added.length > 0 || is('grows') || (peak?.higher ?? false);
  const verdict = bad ? 'bad' : is('unknown') || is('absent') ? 'unknown' : 'good';
  return { verdict, sentences };
}

const isSimulated = ({ processes }: TraceInfo): boolean => processes.some(({ simulated }) => simulated);
const rate = (bytes: number): string => `+${formatBytes(bytes)}`;
/** Where the editor shows it. */
const shownPlace = ({ holder, place }: Finding): Place | null => (lineName(holder) === null ? place : holder);
const nameOf = (leak: Finding): string => lineName(shownPlace(leak)) ?? leak.headline;

/** That matter, worst first. */
function leaksIn({ findings }: Verdicts): Finding[] {
  return findings.filter(one => isLeak(one) && one.bytesPerStep > 0 && !isMinor(one, findings));
}

/** What became of a leak of the run before. */
function outcomeOf(leak: Finding, beside: Beside, { source, verdicts }: JudgedRun): Known {
  const name = beside.nameNow(leak);
  const { live } = source.info();
  const ids = beside.idsOf(leak.layer, beside.linesNow(leak));
  const judged = rowVerdicts(source, verdicts, ids, 'line');
  const growing = judged.filter(({ state }) => state === 'growing' || state === 'slow');
  if (growing.length > 0) {
    const [perStep, past] = [sum(growing.map(row => row.bytesPerStep)), rate(leak.bytesPerStep)];
    return { outcome: 'grows', sentence: t('{0} still grows: {1} per step (was {2}).', name, rate(perStep), past) };
  }
  const isOpen = judged.some(({ state }) => state === 'unknown' || state === 'rising' || state === 'rose');
  const lost = lostShareOf(source.info()) > T.rare;
  if (lost || isOpen || !areEnoughFor(verdicts.steps, leak)) {
    const sentence = lost
      ? t('Too many events were lost to tell whether {0} still grows.', name)
      : live
        ? t('More steps are needed to tell whether {0} still grows.', name)
        : t('The run was too short to tell whether {0} still grows.', name);
    return { outcome: 'unknown', sentence };
  }
  if (ids.length === 0) return { outcome: 'absent', sentence: t('What {0} kept was not allocated in this run.', name) };
  return { outcome: 'gone', sentence: t('{0} no longer grows.', name) };
}
type Known = { outcome: Outcome; sentence: string };

/** Of one card, where most was alive; null: as long as the run goes on, unless it is higher already. */
function peakOf(
  a: TraceInfo,
  b: TraceInfo,
  runs: [JudgedRun, JudgedRun],
): { sentence: string; higher: boolean } | null {
  const most = ({ totals }: TraceInfo): number =>
    Math.max(0, ...totals.filter(({ layer }) => layer === listedLayer(totals)).map(({ peakBytes }) => peakBytes));
  const [before, now] = [most(a), most(b)];
  const higher = now > before * (1 + NOISE);
  if (before === 0 || (b.live && !higher)) return null;
  const [from, to] = [formatBytes(before), formatBytes(now)];
  const [stepsA = 0, stepsB = 0] = runs.map(({ verdicts: { steps } }) => (steps.source === 'time' ? 0 : steps.count));
  if (Math.abs(stepsA - stepsB) <= T.little * stepsA) {
    const sentence = from === to ? t('The peak is the same: {0}.', to) : t('Peak {0} → {1}.', from, to);
    return { sentence, higher };
  }
  const steps = [formatCount(stepsB), formatCount(stepsA)] as const;
  return { sentence: t('Peak {0} → {1}, in {2} steps instead of {3}.', from, to, ...steps), higher };
}

/** The lines of both runs, each beside what it is in the other one, though the program was edited between them. */
class Beside {
  private readonly layers = new Map<Layer, { pairs: readonly Pair[]; ids: ReadonlyMap<string, number> }>();

  constructor(
    private readonly before: TraceSource,
    private readonly now: TraceSource,
  ) {}

  /** The lines that a leak's lines are now, as the new run names them; those that allocate nothing now are left out. */
  linesNow({ layer, places }: Finding): Frame[] {
    const names = new Set(places.map(key));
    return this.of(layer).pairs.flatMap(({ a, b }) =>
      a?.frames[0] && names.has(key(a.frames[0])) ? (b?.frames ?? []) : [],
    );
  }

  idsOf(layer: Layer, lines: readonly Frame[]): number[] {
    return lines.flatMap(line => this.of(layer).ids.get(key(line)) ?? []);
  }

  /** A leak's line as it stands in the new run: as far as the nearest line of its file has moved. */
  nameNow(leak: Finding): string {
    const place = shownPlace(leak);
    const { file, line } = place ?? {};
    if (!file || !line) return nameOf(leak);
    const far = (pair: { from: Frame; to: Frame }): number => Math.abs(pair.from.line - line);
    const moves = this.of(leak.layer).pairs.flatMap(({ a, b }) => {
      const [from, to] = [a?.frames[0], b?.frames[0]];
      return from?.file === file && to !== undefined ? [{ from, to }] : [];
    });
    const [nearest] = moves.sort((one, other) => far(one) - far(other));
    if (nearest === undefined) return nameOf(leak);
    return fileLine(nearest.to.file, line + nearest.to.line - nearest.from.line);
  }

  /** Whether a leak of the new run is one that the run before had. */
  isSame(old: Finding, leak: Finding): boolean {
    const lines = new Set(this.linesNow(old).map(key));
    return old.layer === leak.layer && leak.places.some(place => lines.has(key(place)));
  }

  private of(layer: Layer) {
    return remembered(this.layers, layer, () => {
      const [cwdA, cwdB] = [this.before, this.now].map(source => cwdOf(source.info().session)) as [string, string];
      const [rowsA, rowsB] = [linesIn(this.before, layer), linesIn(this.now, layer)];
      const holding = (row: SiteRow): Holding => ofLine(row, row.peakBytes, row.allocations);
      const { pairs } = pairLines(rowsA.map(holding), rowsB.map(holding), { cwdA, cwdB, sameRun: false });
      return { pairs, ids: new Map(rowsB.map(row => [key(row), row.id])) };
    });
  }
}

const key = ({ file, line }: Pick<Frame, 'file' | 'line'>): string => `${file}:${line}`;

/** All that ever allocated. */
function linesIn(source: TraceSource, layer: Layer): SiteRow[] {
  const order = { sort: 'peakBytes', descending: true, from: 0, to: MOST_LINES, includeDead: true } as const;
  return siteRows(source.sites({ layer, groupBy: 'line', ...order }));
}
