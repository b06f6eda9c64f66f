import { t } from '@vscode/l10n';
import { nameCells } from '../../protocol/notebookCells';
import { groupBy } from '../../base/maps';
import { libraryName, ownsItsMemory } from '../../text/libraryName';
import { reportedSource } from '../../protocol/notes';
import { LAYERS, newestSteps, type StepAxis, type TraceInfo, type TraceSource } from '../../protocol/trace';
import type { Finding, GrowingState, SiteState, SiteVerdict, Verdicts } from '../../protocol/verdicts';
import { growingState, isGrowth, isLeak } from '../../protocol/verdicts';
import { type JudgedLedger, readLedgers } from '../ledger/ledger';
import { cutSteps, readSiteSteps, type SiteSteps } from '../series/siteSeries';
import { THRESHOLDS as T } from '../series/thresholds';
import { firstWhole, inContext, isNoStep, loopFacts, lostShareOf } from '../sites/context';
import { namedFrame } from '../sites/site';
import { judgeLine, judgeSite, stateVerdict, type JudgedSite } from '../sites/states';
import { mergeAcrossProcesses } from './acrossProcesses';
import { afterSteps } from './afterSteps';
import { anomalyFindings } from './kinds/anomaly';
import { cellFindings } from './kinds/cell';
import { cycleFindings } from './kinds/cycle';
import type { LineText } from './kinds/findingContext';
import { findLeaks } from './kinds/leak';
import { readHolders } from './kinds/holderAnswers';
import { layerFindings } from './kinds/layer';
import { failureFindings, judgeFailures } from './kinds/outOfMemory';
import { atFailure } from './kinds/retained';
import { PINNED_CACHE, unusedPinnedGrowth } from './kinds/pinnedCache';
import { roundedFindings } from './kinds/pinnedRounded';
import { unjudgedLines } from './unjudged';

/** Sites that are judged between two yields. */
const PART = 16;

/** Judges all that a trace holds at the ends of its steps. `lineText` gives source text for the advice. */
export function judgeTrace(source: TraceSource, lineText: LineText = () => null): Verdicts {
  const judging = judgeInParts(source, lineText);
  for (;;) {
    const part = judging.next();
    if (part.done) return part.value;
  }
}

/** As `judgeTrace`, for threads that have other things to do: yields every millisecond or so. */
export function* judgeInParts(source: TraceSource, lineText: LineText): Generator<void, Verdicts> {
  const info = source.info();
  const parts = judgeParts(source, info, lineText);
  for (;;) {
    nameCells(info); // between two parts another trace of the window may have named its own
    const part = parts.next();
    if (part.done) return part.value;
    yield;
  }
}

function* judgeParts(source: TraceSource, info: TraceInfo, lineText: LineText): Generator<void, Verdicts> {
  const judged: JudgedProcess[] = [];
  for (const { process } of info.steps) judged.push(yield* judgeProcess(source, info, process));
  const setUps = judged.flatMap(({ axis, setUp }) => (setUp && axis !== null ? axis.process : []));
  const ledgers = readLedgers(source);
  const verdicts = new Map(judged.flatMap(({ sites }) => sites.map(({ verdict }) => [verdict.site, verdict] as const)));
  const leaks = leaksOf(judged, source, ledgers, lineText).filter(leak => !fillsUp(leak, verdicts));
  const known = stepsOf(source, info);
  const failures = judgeFailures({
    source,
    leaks,
    after: known.after,
    setUps,
    lineText,
    heldBy: ({ sites, layer }, snapshot) => {
      const own = judged.flatMap(one => one.sites.filter(({ verdict }) => sites.includes(verdict.site)));
      return atFailure(
        own.filter(({ verdict }) => verdict.layer === layer),
        snapshot,
      ).bytes;
    },
    lastStep: ({ process, timeNs }) => lastStepAt(judged.find(({ axis }) => axis?.process === process)?.axis, timeNs),
  });
  for (const leak of leaks) for (const site of leak.sites) markGrowing(verdicts, site, growingState(leak));
  const explained = new Set(failures.flatMap(failure => failure.leak ?? []));
  const unexplained = leaks.filter(leak => !explained.has(leak)).sort(bySeverity);
  return {
    revision: info.revision,
    ...known,
    unjudged: unjudgedLines(source, info, verdicts.values()),
    sites: verdicts,
    findings: mergeAcrossProcesses([
      ...failureFindings(failures, source),
      ...unexplained.filter(leak => leak.verdict !== 'slow'),
      ...cellFindings(source, new Set(unexplained.flatMap(leak => leak.sites))),
      ...layerFindings(ledgers, { source, leaks, setUps, sites: judged.flatMap(({ sites }) => sites) }),
      ...judged.flatMap(({ sites }) => [...cycleFindings(sites, source), ...anomalyFindings(sites, source)]),
      ...roundedFindings(source, leaks.filter(isLeak)),
      ...unexplained.filter(leak => leak.verdict === 'slow'),
    ]),
    ledger: ledgers.map(({ ledger }) => ledger),
    outOfMemory: failures.map(({ verdict }) => verdict),
  };
}

function leaksOf(
  judged: readonly JudgedProcess[],
  source: TraceSource,
  ledgers: readonly JudgedLedger[],
  lineText: LineText,
): Finding[] {
  const growing = judged.map(({ axis, sites }) => ({
    axis,
    sites: sites.filter(({ verdict }) => verdict.state === 'growing'),
  }));
  if (growing.every(({ sites }) => sites.length === 0)) return [];
  const answers = readHolders(source);
  const all = growing.flatMap(({ sites }) => sites);
  const shared = { source, answers, lineText, unusedPinnedGrowth: unusedPinnedGrowth(all, { source, answers }) };
  return growing.flatMap(({ axis, sites }) => {
    if (axis === null || sites.length === 0) return [];
    return findLeaks(sites, { ...shared, axis, ledgers: ledgers.map(({ ledger }) => ledger) });
  });
}

/** Growth whose holders are worth a query to the program. */
export function leaksToQuery(findings: readonly Finding[]): Finding[] {
  return findings.filter(finding => (isGrowth(finding) || isLeak(finding)) && finding.confidence >= T.most);
}

/** Leaks that are sure enough to fail a run, whether or not memory ran out of them; `all`: slow ones too. */
export function sureLeaks(findings: readonly Finding[], all = false): Finding[] {
  const counts = (finding: Finding): boolean => isLeak(finding) || (all && finding.verdict === 'slow');
  return findings.filter(finding => counts(finding) && finding.confidence >= T.most);
}

interface JudgedProcess {
  axis: StepAxis | null;
  sites: JudgedSite[];
  /** Its steps may be a set-up, or parts of a step. */
  setUp: boolean;
}

function* judgeProcess(source: TraceSource, info: TraceInfo, process: number): Generator<void, JudgedProcess> {
  const judged: JudgedProcess = { axis: null, sites: [], setUp: false };
  const lostShare = lostShareOf(info);
  const ended = info.processes[process]?.ended ?? true;
  const pools = source.pools();
  for (const layer of LAYERS) {
    const { axis, sites } = yield* readSiteSteps(source, process, layer);
    judged.axis = axis;
    const first = judged.sites.length;
    const cut = firstWhole(axis, layer);
    const whole = sites.map(site => cutSteps(site, cut));
    const loop = loopFacts(axis, info, pools);
    judged.setUp = isNoStep(loop);
    const context = { axis, sites: whole, cut, ended, lostShare, ...loop };
    for (const [i, steps] of whole.entries()) {
      // What a library takes for its own use is none of the program's loading.
      const own = loop.loads && ownsItsMemory(libraryName(source.site(steps.site)?.library ?? ''));
      const verdict = inContext(judgeSite(steps, ended), steps, own ? { ...context, loads: false } : context);
      const all = sites[i];
      judged.sites.push(cut > 0 && all !== undefined ? withEarlier({ steps, verdict }, all) : { steps, verdict });
      if (i % PART === PART - 1) yield;
    }
    for (const line of linesOf(judged.sites.slice(first), source)) {
      const verdict = judgeLine(line.map(({ steps }) => steps));
      const own = line.find(({ steps }) => steps.site === verdict?.site);
      if (verdict !== null && own !== undefined) own.verdict = inContext(verdict, own.steps, context);
    }
  }
  return judged;
}

/** Growth that is proven since events were missing, with what it made before, if it grew then too: as the table counts it. */
function withEarlier(one: JudgedSite, all: SiteSteps): JudgedSite {
  const { verdict } = one;
  const { grows, sinceStep } = verdict.state === 'growing' ? judgeSite(all, false) : verdict;
  if (verdict.state !== 'growing' || sinceStep === null || grows !== verdict.grows) return one;
  return { steps: all, verdict: { ...verdict, sinceStep } };
}

/** Of each line the sites whose blocks are freed soon, and are ever more at once, where it has several. A site's stack costs more than its series. */
function linesOf(sites: readonly JudgedSite[], source: TraceSource): JudgedSite[][] {
  const higher = sites.filter(({ verdict, steps }) => verdict.state === 'transient' && getsHigher(steps.liveCount));
  if (higher.length < 2) return [];
  return [...groupBy(higher, ({ steps }) => lineOf(source, steps.site)).values()].filter(line => line.length > 1);
}

function getsHigher(levels: readonly number[]): boolean {
  const half = levels.length >> 1;
  return Math.max(0, ...levels.slice(half)) > Math.max(0, ...levels.slice(0, half));
}

function lineOf(source: TraceSource, site: number): string {
  const frame = namedFrame(source.site(site));
  return frame === null ? `site ${site}` : `${frame.file}:${frame.line}`;
}

function markGrowing(verdicts: Map<number, SiteVerdict>, site: number, state: GrowingState | null): void {
  const verdict = verdicts.get(site);
  if (verdict?.state === 'growing' && state !== null) verdicts.set(site, { ...verdict, state });
}

/** The step in which a moment lies is no later than this one: of long runs, the ends of some steps are known. */
function lastStepAt(axis: StepAxis | null | undefined, timeNs: number): number {
  return axis?.last[axis.endNs.findIndex(end => end >= timeNs)] ?? Infinity;
}

/** What is certain first, then what fills its device sooner, then what is more. */
function bySeverity(a: Finding, b: Finding): number {
  const sure = Number(b.verdict === 'leak') - Number(a.verdict === 'leak');
  const time = (finding: Finding): number => finding.fullInSeconds ?? Number.MAX_VALUE;
  return sure || time(a) - time(b) || b.bytesPerStep - a.bytesPerStep;
}

/** What the agent found in a container with a bound, or in PyTorch's cache, is being filled: no leak. Takes the sites' verdicts back. */
function fillsUp(leak: Finding, verdicts: Map<number, SiteVerdict>): boolean {
  const { holder } = leak;
  if (holder?.kind === PINNED_CACHE.kind) {
    const because = t('No tensor uses it: PyTorch’s pinned memory cache grows while more copies are in flight.');
    takeBack(leak, verdicts, 'cache', because);
    return true;
  }
  if (holder === null || holder.bound === null || (holder.length ?? 0) > holder.bound) return false;
  // What has outgrown the bound is kept by something else as well.
  if (leak.sites.some(site => (verdicts.get(site)?.rises ?? 0) > (holder.bound ?? 0))) return false;
  takeBack(leak, verdicts, 'plateau', t('It fills `{0}`, which is limited to {1} entries.', holder.path, holder.bound));
  return true;
}

function takeBack(leak: Finding, verdicts: Map<number, SiteVerdict>, state: SiteState, because: string): void {
  for (const site of leak.sites) {
    const verdict = verdicts.get(site);
    if (verdict !== undefined) verdicts.set(site, stateVerdict(verdict, state, because));
  }
}

/** Of the process with most. */
function stepsOf(source: TraceSource, info: TraceInfo): Pick<Verdicts, 'steps' | 'after'> {
  const known = newestSteps(info);
  if (known === undefined) return { steps: { count: 0, source: 'none' }, after: null };
  return {
    steps: { count: known.count, source: reportedSource(info, known) },
    after: afterSteps(source, info, known.process),
  };
}
