// A run beside the one of the same program before it: which leaks are gone, which are still there, whether memory runs out, and the peak.
import { t } from '@vscode/l10n';
import { areEnoughFor } from '../../analysis/sites/overallVerdict';
import { lostShareOf } from '../../analysis/sites/context';
import { rowVerdicts } from '../../analysis/findings/rowVerdicts';
import { THRESHOLDS as T } from '../../analysis/series/thresholds';
import { sum } from '../../analysis/series/statistics';
import { cwdOf } from '../../protocol/cwd';
import type { RowVerdict } from '../../protocol/requests/verdictRequests';
import type { RunComparison } from '../../protocol/requests/compareRequests';
import {
  listedPeakBytes,
  siteRows,
  wasPaused,
  type Frame,
  type Layer,
  type SiteRow,
  type TraceInfo,
  type TraceSource,
} from '../../protocol/trace';
import { isGrowth, isLeak, isMinor, type Finding, type Verdicts } from '../../protocol/verdicts';
import { fileLine, formatBytes, formatCount, lineName } from '../../text/format';
import { comparable, ofLine, pairLines } from './compareHoldings';

/** A run, and what was found in it. */
export interface JudgedRun {
  source: TraceSource;
  verdicts: Verdicts;
}

/** A line of the program in each run; undefined: it allocates nothing there. */
interface Line {
  layer: Layer;
  from: SiteRow | undefined;
  to: SiteRow | undefined;
}
interface Outcome {
  /** Null: it settles nothing. */
  verdict: RunComparison['verdict'] | null;
  sentence: string;
}

/** All that ever allocated. */
const ALL = { sort: 'peakBytes', descending: true, from: 0, to: 20_000, includeDead: true } as const;
/** A peak that is higher by less than this part is the same. */
const NOISE = 0.05;

/** Null if there is nothing to compare, or the runs cannot be compared. */
export function compareRuns(before: JudgedRun, now: JudgedRun): RunComparison | null {
  const [infoA, infoB] = [before.source.info(), now.source.info()];
  if (isSimulated(infoA) !== isSimulated(infoB) || infoB.totals.length === 0) return null;
  const [grew, found] = [openIn(before.verdicts), leaksIn(now.verdicts)];
  const layers = new Set([...grew, ...found].map(({ layer }) => layer));
  const lines = [...layers].flatMap(layer => linesOf(before.source, now.source, layer));
  // What is a leak now and was only suspected before did grow before.
  const old = grew.filter(one => isLeak(one) || found.some(leak => isSame(one, leak, lines)));
  const functionsOf = [namerOf(infoA), namerOf(infoB)] as const;
  const open = openIn(now.verdicts);
  const stray = open.filter(one => !old.some(leak => isSame(leak, one, lines)));
  const pasts = old.map(leak => ({
    leak,
    same: open.filter(one => isSame(leak, one, lines)),
    near: stray.filter(one => isNear(leak, one, functionsOf)),
  }));
  // What the run before did not come to see is not new.
  const isNew = (one: Finding): boolean =>
    areEnoughFor(before.verdicts.steps, one) && stray.includes(one) && !pasts.some(({ near }) => near.includes(one));
  const outcomes = [
    ...pasts.map(past => outcomeOf(past, lines, before.source, now)),
    ...found.filter(isNew).map(newLeak),
    ...ranOutOf(before, now),
    ...peakOf(infoA, infoB, before.verdicts.steps, now.verdicts.steps),
  ];
  if (outcomes.length === 0) return null;
  const is = (verdict: Outcome['verdict']): boolean => outcomes.some(one => one.verdict === verdict);
  const verdict = (['bad', 'unknown', 'early', 'good'] as const).find(is) ?? 'unknown';
  return { verdict, sentences: outcomes.map(({ sentence }) => sentence) };
}

const isSimulated = ({ processes }: TraceInfo): boolean => processes.some(({ simulated }) => simulated);
const key = ({ file, line }: Pick<Frame, 'file' | 'line'>): string => `${file}:${line}`;
const rate = (bytes: number): string => `+${formatBytes(bytes)}`;
const shownPlace = ({ holder, place }: Finding) => (lineName(holder) === null ? place : holder);

/** That matter, worst first. */
function leaksIn({ findings }: Verdicts): Finding[] {
  return findings.filter(one => isLeak(one) && one.bytesPerStep > 0 && !isMinor(one, findings));
}

/** A leak of the run before; what grows in the new one and is that leak, or lies in its function and is none of the others. */
interface Past {
  leak: Finding;
  same: Finding[];
  near: Finding[];
}

/** All growth that matters, also where it is only suspected. */
function openIn({ findings }: Verdicts): Finding[] {
  return findings.filter(one => (isGrowth(one) || isLeak(one)) && one.bytesPerStep > 0 && !isMinor(one, findings));
}

/** They have a holder or a line in common. */
function isSame(leak: Finding, one: Finding, lines: readonly Line[]): boolean {
  const known = new Set(linesIn(leak, lines).map(({ to }) => to && key(to)));
  const nameOf = ({ holder }: Finding): string | null =>
    holder && holder.kind !== 'none' ? `${holder.function} ${holder.container ?? holder.path}` : null;
  const isHeldAlike = nameOf(leak) !== null && nameOf(leak) === nameOf(one);
  return leak.layer === one.layer && (isHeldAlike || one.places.some(place => known.has(key(place))));
}

type NamesOf = (of: Finding) => string[];

/** Names the functions that allocate or hold, the same in each run. */
const namerOf =
  (info: TraceInfo): NamesOf =>
  ({ holder, places }) =>
    [holder, ...places].flatMap(at =>
      at?.file && at.function ? `${comparable(at.file, cwdOf(info.session))} ${at.function}` : [],
    );

function isNear(leak: Finding, one: Finding, [before, now]: readonly [NamesOf, NamesOf]): boolean {
  const own = before(leak);
  return leak.layer === one.layer && now(one).some(name => own.includes(name));
}

/** All lines, though the program was edited between the runs. */
function linesOf(before: TraceSource, now: TraceSource, layer: Layer): Line[] {
  const rowsOf = (source: TraceSource) => siteRows(source.sites({ layer, groupBy: 'line', ...ALL }));
  const [a, b] = [rowsOf(before), rowsOf(now)];
  const [ofA, ofB] = [a, b].map(rows => new Map(rows.map(row => [key(row), row])));
  const places = { cwdA: cwdOf(before.info().session), cwdB: cwdOf(now.info().session), sameRun: false };
  const holdings = (rows: typeof a) => rows.map(row => ofLine(row, row.peakBytes, row.allocations));
  const { pairs } = pairLines(holdings(a), holdings(b), places);
  const find = (rows: typeof ofA, frame: Frame | undefined) => frame && rows?.get(key(frame));
  return pairs.map(pair => ({ layer, from: find(ofA, pair.a?.frames[0]), to: find(ofB, pair.b?.frames[0]) }));
}

/** Those of a leak of the run before. */
function linesIn(leak: Finding, lines: readonly Line[]): Line[] {
  const names = new Set(leak.places.map(key));
  return lines.filter(({ layer, from }) => layer === leak.layer && from !== undefined && names.has(key(from)));
}

/** What became of a leak of the run before. */
function outcomeOf(
  { leak, same, near }: Past,
  lines: readonly Line[],
  before: TraceSource,
  { source, verdicts }: JudgedRun,
): Outcome {
  const name = nameNow(leak, lines, before, source);
  const ids = linesIn(leak, lines).flatMap(({ to }) => to?.id ?? []);
  const judged = rowVerdicts(source, verdicts, ids, 'line');
  const rows = judged.filter(({ bytesPerStep }) => bytesPerStep > 0);
  const isSure = ({ state }: RowVerdict): boolean => state === 'growing' || state === 'slow';
  if (rows.length > 0) return stillGrows(name, leak, rows, rows.some(isSure));
  if (same.length > 0) return stillGrows(name, leak, same, same.some(isLeak));
  if (near[0] !== undefined) return mayStillGrow(name, near[0]);
  const unknown = (sentence: string): Outcome => ({ verdict: 'unknown', sentence });
  const info = source.info();
  if (lostShareOf(info) > T.rare)
    return unknown(t('Too many events were dropped to judge whether {0} still grows.', name));
  const open = judged.some(({ state }) => state === 'unknown' || state === 'rising' || state === 'rose');
  // Of a loop that was found just now, the first steps may show nothing yet.
  const count = info.live ? verdicts.steps.count / 2 : verdicts.steps.count;
  if (open || !areEnoughFor({ ...verdicts.steps, count }, leak))
    return { verdict: 'early', sentence: earlyText(info, name) };
  if (ids.length === 0) return unknown(t('The memory that leaked at {0} was not allocated in this run.', name));
  return { verdict: 'good', sentence: t('{0} no longer grows.', name) };
}

function earlyText(info: TraceInfo, name: string): string {
  if (info.live) return t('More steps are needed to judge whether {0} still grows.', name);
  return wasPaused(info)
    ? t('Recording was paused; too few steps were recorded after it to judge whether {0} still grows.', name)
    : t('The run was too short to judge whether {0} still grows.', name);
}

type Rate = Pick<Finding, 'bytesPerStep'>;

function stillGrows(name: string, leak: Rate, growing: readonly Rate[], isSure: boolean): Outcome {
  const [perStep, past] = [rate(sum(growing.map(one => one.bytesPerStep))), rate(leak.bytesPerStep)];
  const sentence =
    perStep === past
      ? t('{0} grows as before: {1} per step.', name, perStep)
      : t('{0} still grows: {1} per step (was {2}).', name, perStep, past);
  return { verdict: isSure ? 'bad' : 'unknown', sentence };
}

/** The program was edited: what grows now may be what grew before. */
function mayStillGrow(name: string, near: Finding): Outcome {
  const other = lineName(shownPlace(near)) ?? near.headline;
  const sentence = t('{0} may still grow: {1} grows in the same function.', name, other);
  return { verdict: isLeak(near) ? 'bad' : 'unknown', sentence };
}

/** A leak's line as it stands in the new run: as far as the nearest line of its file has moved. */
function nameNow(leak: Finding, lines: readonly Line[], before: TraceSource, now: TraceSource): string {
  const { file = null, line = null } = shownPlace(leak) ?? {};
  if (file === null || line === null) return leak.headline;
  const all: Moved[] = [...lines, ...callersOf(leak, lines, before, now)];
  const moves = all.filter(({ from, to }) => from?.file === file && to !== undefined);
  const far = ({ from }: Moved): number => Math.abs((from?.line ?? 0) - line);
  const [nearest] = moves.sort((one, other) => far(one) - far(other));
  if (!nearest?.from || !nearest.to) return fileLine(file, line);
  return fileLine(nearest.to.file, line + nearest.to.line - nearest.from.line);
}

type Moved = { from: Frame | undefined; to: Frame | undefined };

/** What the stacks of a leak have in both runs: a file that allocates nothing itself may call what does. */
function callersOf(leak: Finding, lines: readonly Line[], before: TraceSource, now: TraceSource): Moved[] {
  const names = new Set(linesIn(leak, lines).flatMap(({ to }) => (to ? key(to) : [])));
  const rows = siteRows(now.sites({ layer: leak.layer, groupBy: 'site', ...ALL }));
  const stacks = rows.filter(row => names.has(key(row))).map(({ id }) => now.site(id)?.frames ?? []);
  return leak.sites.flatMap(site => {
    const frames = before.site(site)?.frames ?? [];
    const functions = (all: readonly Frame[]): string => all.map(frame => frame.function).join('\n');
    const stack = stacks.find(other => functions(other) === functions(frames)) ?? [];
    return stack.map((to, i) => ({ from: frames[i], to }));
  });
}

function newLeak(leak: Finding): Outcome {
  const name = lineName(shownPlace(leak)) ?? leak.headline;
  const sentence = t('{0} grows now, but did not before: {1} per step.', name, rate(leak.bytesPerStep));
  return { verdict: 'bad', sentence };
}

/** Beside a run that ran out of memory: whether this one does; nothing as long as it may. */
function ranOutOf(before: JudgedRun, { source, verdicts }: JudgedRun): Outcome[] {
  const ranOut = ({ findings }: Verdicts): boolean => findings.some(({ failure }) => failure !== undefined);
  if (!ranOut(before.verdicts)) return [];
  if (ranOut(verdicts))
    return [{ verdict: 'bad', sentence: t('This run ran out of memory, as the previous one did.') }];
  const info = source.info();
  if (info.live || endedEarly(info)) return [];
  return [{ verdict: 'good', sentence: t('The previous run ran out of memory; this one did not.') }];
}

type Steps = Verdicts['steps'];

/** The program failed or was stopped: it would have gone further. */
const endedEarly = ({ processes }: TraceInfo): boolean => processes.some(({ exitCode }) => (exitCode ?? 0) !== 0);

/**
 * Of one card, where most was alive; none as long as the run continues, unless it is higher already. A run that got further may well have a
 * higher peak, and one that got less far a lower one; of one whose recording was paused neither the steps nor the peak are known. Beside a run that ended early only a lower peak counts,
 * and of one that did itself only a higher one: they would have come to more.
 */
function peakOf(a: TraceInfo, b: TraceInfo, stepsA: Steps, stepsB: Steps): Outcome[] {
  if (wasPaused(a) || wasPaused(b)) return [];
  const most = ({ totals }: TraceInfo): number => listedPeakBytes(totals);
  const higher = most(b) > most(a) * (1 + NOISE);
  const lower = most(b) < most(a) * (1 - NOISE);
  if (most(a) === 0 || (endedEarly(a) && !lower) || ((b.live || endedEarly(b)) && !higher)) return [];
  const [from, to] = [formatBytes(most(a)), formatBytes(most(b))];
  const alike = stepsA.source === 'time' || Math.abs(stepsA.count - stepsB.count) <= T.little * stepsA.count;
  const further = !alike && stepsB.count > stepsA.count;
  // The page shows what it is at this moment.
  if (b.live && further) return [];
  if (b.live)
    return [{ verdict: 'bad', sentence: t('The peak is already higher than the {0} of the previous run.', from) }];
  const counts = [formatCount(stepsB.count), formatCount(stepsA.count)] as const;
  const sentence =
    from === to
      ? alike
        ? t('The peak is the same: {0}.', to)
        : t('The peak is the same, {0}, although this run had {1} steps and the previous one {2}.', to, ...counts)
      : alike
        ? t('Peak {0} → {1}.', from, to)
        : t('Peak {0} → {1}, in {2} steps instead of {3}.', from, to, ...counts);
  const isDue = higher ? further : !alike && !further;
  return [{ verdict: isDue ? null : higher ? 'bad' : 'good', sentence }];
}
