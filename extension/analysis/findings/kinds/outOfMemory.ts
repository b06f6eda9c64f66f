import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../../text/format';
import type { Layer, MemorySnapshot, OutOfMemory, TraceInfo, TraceSource } from '../../../protocol/trace';
import type { AfterSteps, Finding, OutOfMemoryAdvice, OutOfMemoryCause } from '../../../protocol/verdicts';
import type { OutOfMemoryVerdict } from '../../../protocol/verdicts';
import { fewestRecords } from '../../series/records';
import { poolTexts, privatePools, unusedIn } from '../../ledger/pools';
import { sum } from '../../series/statistics';
import { THRESHOLDS as T } from '../../series/thresholds';
import { savesText } from '../../../text/roomText';
import { libraryName } from '../../../text/libraryName';
import { inSentence, placeOf, siteText } from '../../sites/site';
import { areEnough } from '../../sites/overallVerdict';
import { codePath } from '../../../text/markdown';
import { blocksText, holderText, placeText } from '../../words';
import type { LineText } from './findingContext';
import { figuresOf, roomOf, type Room } from './failureRoom';
import { grownBatch } from './grownBatch';
import { inItsLoop } from './inItsLoop';
import { adviceFor, byLine, NO_SEGMENTS, noAdvice, type Failed } from './oomAdvice';
import { makeFinding, titleOf } from './wording';

/** Lines listed of a failure. */
const LINES = 10;
/** Between the driver's refusal and PyTorch's error: it empties its cache and tries again. */
const TOGETHER_NS = 1e9;

export interface OutOfMemoryContext {
  source: TraceSource;
  /** Leaks that were found. */
  leaks: readonly Finding[];
  /** What piled up behind the last step; null: nothing did. */
  after: AfterSteps | null;
  /** Processes whose steps may be a set-up, as when weights are loaded: what piles up in it is no sign of a leak. */
  setUps: readonly number[];
  lineText: LineText;
  /** Bytes that a leak held then. */
  heldBy(leak: Finding, snapshot: MemorySnapshot): number;
  /** A step in or before which it failed. */
  lastStep(failure: OutOfMemory): number;
}

type WithoutCause = Pick<Failed, 'failure' | 'leak' | 'after' | 'batch' | 'bigger' | keyof Room>;

/** A failure, why it happened, and the leak that led to it. */
export interface JudgedFailure {
  verdict: OutOfMemoryVerdict;
  failure: OutOfMemory;
  leak: Finding | null;
}

/** Judges each failed allocation that a program could not get over. */
export function judgeFailures(context: OutOfMemoryContext): JudgedFailure[] {
  const info = context.source.info();
  const { outOfMemory } = info;
  const known = new Set(outOfMemory.flatMap(failure => (failure.snapshot === null ? [] : [failure.site])));
  return outOfMemory.flatMap((failure, index) => {
    const isCounted = failure.snapshot === null && known.has(failure.site);
    return isCounted || isRetried(failure, context.source) ? [] : [judgeFailure(failure, index, info, context)];
  });
}

/** One sentence where failures were only counted, else null. */
export function countedText({ outOfMemory, outOfMemoryCount }: TraceInfo): string | null {
  const kept = outOfMemory.filter(({ snapshot }) => snapshot !== null).length;
  if (outOfMemoryCount === kept || outOfMemoryCount <= 1) return null;
  const [all, known, rest] = [outOfMemoryCount, kept, outOfMemoryCount - kept].map(formatCount);
  if (kept === 0) return t('{0} allocations did not fit. The live memory was not recorded for any of them.', all ?? '');
  // prettier-ignore
  return t('{0} allocations did not fit. The live memory was recorded for {1} of them; the other {2} were only counted.', all ?? '', known ?? '', rest ?? '');
}

/**
 * PyTorch calls the driver, and on failure empties its cache and tries again: what counts is whether the tensor could be
 * made. What another library was refused is final, and so is all where there is no tensor layer.
 */
function isRetried(failure: OutOfMemory, source: TraceSource): boolean {
  const { outOfMemory, totals } = source.info();
  const isOwn = isOf(failure.process, 'tensor');
  const tensors = outOfMemory.some(isOwn) || totals.some(one => isOwn(one) && one.allocations > 0);
  return failure.layer === 'driver' && tensors && otherLibrary(failure, source) === null;
}

/** What called the driver, where that is known and not PyTorch: `NCCL (libnccl.so.2)`. */
function otherLibrary({ layer, site }: OutOfMemory, source: TraceSource): string | null {
  const library = layer === 'driver' ? source.site(site)?.library : undefined;
  const name = libraryName(library ?? '');
  return name === '' || name.startsWith('PyTorch') ? null : name;
}

function isOf(process: number, layer: Layer): (one: Pick<OutOfMemory, 'process' | 'layer'>) => boolean {
  return one => one.process === process && one.layer === layer;
}

function judgeFailure(
  failure: OutOfMemory,
  index: number,
  info: TraceInfo,
  context: OutOfMemoryContext,
): JudgedFailure {
  const { snapshot } = failure;
  const { source } = context;
  const [leak, leakBytes] = inItsLoop(failure, source) ? leakBehind(failure, context) : NO_LEAK;
  // Rounds that nothing names may be layers of the pass that failed: what came after them is no sign of a leak.
  const isNamed = info.steps.find(({ process }) => process === failure.process)?.source !== 'periodic';
  const { after: rose } = context;
  const after = isNamed && rose?.process === failure.process && matters(rose, failure) ? rose : null;
  const room = roomOf(failure, info);
  const limited = hadRoom(failure, room, info);
  // Where it stopped is not why: a limit is the cause only of what nothing else explains.
  const batch = snapshot === null ? null : grownBatch(snapshot, failure.process, source);
  const bigger = snapshot === null ? null : (batch ?? biggerText(snapshot, failure.process, source));
  const had = limited ? { ...room, freeBytes: 0 } : room;
  const reason = causeOf({ failure, leak, after, batch, bigger, ...had }, context);
  const cause = limited && (reason === 'full' || reason === 'other-process') ? 'limit' : reason;
  const step = stepOf(failure, info, leak, context);
  const figures = figuresOf(failure, { ...room, freeBytes: limited ? null : room.freeBytes });
  const failed = { failure, cause, leak, leakBytes, after, batch, bigger, ...room, ...figures, limited, step };
  const advice = adviceFor(failed, source, context.lineText);
  const steps = stepsAfter(failure, step, info);
  const wentOn = steps > 0 || gotOver(failure, index, info);
  const [bytes, line] = [formatBytes(failure.requestedBytes), inSentence(siteText(source.site(failure.site)))];
  const gpu = failure.device >= 0 && info.devices.length > 1 ? failure.device : null;
  const library = otherLibrary(failure, source);
  const what =
    library === null || library === line || library.startsWith('Python') ? bytes : t('{0} for {1}', bytes, library);
  const headline =
    gpu === null
      ? t('{0} did not fit at {1}', what, line)
      : t('{0} did not fit on GPU {2}, at {1}', what, line, String(gpu));
  const detail = `${withWentOn(causeText(failed, source), wentOn, steps)}.`;
  const holder = leak?.holder;
  const verdict: OutOfMemoryVerdict = {
    ...{ index, cause, headline, detail, step, wentOn },
    title: titleOf({ verdict: 'oom', headline, detail, atStep: step, processes: 1 }),
    holder: holder
      ? t('Held by {0}.', holderText({ ...holder, path: codePath(holder.path) }))
      : (leak?.unnamed ?? null),
    advice,
    noAdvice: advice.length > 0 ? null : noAdvice(failed),
    ...{ ...room, ...figures },
    largestFreeBytes: snapshot?.fragmentation.segments ? snapshot.fragmentation.largestFreeBytes : null,
    reservedBytes: snapshot?.reservedBytes ?? null,
    aliveByLine: byLine(snapshot?.sites ?? [], source).slice(0, LINES),
    aliveByCategory: snapshot?.categories ?? [],
    newInStep: newInStep(snapshot, source),
  };
  return { verdict, failure, leak };
}

const NO_LEAK = [null, 0] as const;

/** The leak on that device that held most then, when that is enough to matter, and those bytes. */
function leakBehind(failure: OutOfMemory, { leaks, heldBy }: OutOfMemoryContext): readonly [Finding | null, number] {
  const { process, device, snapshot } = failure;
  const [biggest] = leaks
    .filter(leak => leak.process === process && leak.device === device)
    .map(leak => ({ leak, bytes: snapshot === null ? leak.bytes : heldBy(leak, snapshot) }))
    .sort((a, b) => b.bytes - a.bytes);
  return biggest !== undefined && matters(biggest, failure) ? [biggest.leak, biggest.bytes] : NO_LEAK;
}

/** It has a good part of what was alive. */
function matters({ bytes }: { bytes: number }, { snapshot, liveBytes }: OutOfMemory): boolean {
  return bytes >= T.part * (snapshot?.tensorBytes ?? liveBytes);
}

function causeOf(
  { failure, leak, after, batch, bigger, totalBytes: total, freeBytes, othersBytes }: WithoutCause,
  { source, setUps }: OutOfMemoryContext,
): OutOfMemoryCause {
  const { snapshot, requestedBytes } = failure;
  if (leak !== null || after !== null) return 'leak';
  const big = requestedBytes >= (total === null ? Math.max(1, failure.liveBytes) : T.most * total);
  if (snapshot === null) return big ? 'big-request' : 'full';
  const { freeBytes: unused, largestFreeBytes, emptyBytes } = snapshot.fragmentation;
  if (otherLibrary(failure, source) !== null && emptyBytes >= requestedBytes) return 'cache';
  if (failure.layer === 'host') return requestedBytes > failure.liveBytes ? 'big-request' : 'full';
  if (unused >= requestedBytes && largestFreeBytes < requestedBytes && bigger === null) return 'fragmentation';
  const kept = unusedIn(snapshot.pools);
  const room = freeBytes !== null && freeBytes < requestedBytes ? freeBytes : 0; // more than that was not to be had, whyever
  if (kept >= T.little * requestedBytes && kept + unused + room >= requestedBytes) return 'pools';
  if (big && batch === null) return 'big-request';
  if (total !== null && othersBytes !== null && othersBytes >= T.part * total) return 'other-process';
  if (gathering(snapshot) && inItsLoop(failure, source) && !setUps.includes(failure.process)) return 'leak';
  return bigger === null && isUnusual(failure, snapshot, source) ? 'big-request' : 'full';
}

/** Much more than its line allocates in a step, and than any block that is alive. Slices of time have no usual. */
function isUnusual(failure: OutOfMemory, { sites }: MemorySnapshot, source: TraceSource): boolean {
  const { process, site, requestedBytes } = failure;
  const usual = sites.find(one => one.site === site)?.usualAllocatedBytes ?? 0;
  if (usual === 0 || requestedBytes < T.times * usual) return false;
  if (source.info().steps.find(one => one.process === process)?.source === 'time') return false;
  return sites.every(({ liveBytes, liveCount }) => 2 * liveBytes < requestedBytes * Math.max(1, liveCount));
}

/** The driver, whose calls are seen, was not called: PyTorch requests nothing that it is not allowed to take. */
function hadRoom(failure: OutOfMemory, { freeBytes }: Room, { outOfMemory, totals }: TraceInfo): boolean {
  const isOwn = isOf(failure.process, 'driver');
  const refused = outOfMemory.some(one => isOwn(one) && Math.abs(failure.timeNs - one.timeNs) < TOGETHER_NS);
  const seen = totals.some(total => isOwn(total) && total.allocations > 0);
  const room = typeof failure.snapshot?.usedBytes === 'number' ? (freeBytes ?? 0) : 0;
  return failure.layer === 'tensor' && seen && !refused && room > failure.requestedBytes;
}

/** Too few steps for a verdict, and yet: one line holds most of the memory, in many blocks, from steps long past. */
function gathering(snapshot: MemorySnapshot): boolean {
  const [first] = snapshot.sites;
  return (
    first !== undefined &&
    snapshot.step > fewestRecords() &&
    first.liveBytes >= T.most * snapshot.tensorBytes &&
    first.liveCount >= T.most * snapshot.step &&
    snapshot.step - first.oldestStep >= T.most * snapshot.step &&
    first.usualAllocatedBytes > 0
  );
}

/**
 * Null: not known, as in the rounds of a loop in which nothing leaks, which may be layers. Before the first step of an optimizer
 * ended, slices of time were counted, and these were more.
 */
function stepOf(
  failure: OutOfMemory,
  info: TraceInfo,
  leak: Finding | null,
  { lastStep }: OutOfMemoryContext,
): number | null {
  const source = info.steps.find(({ process }) => process === failure.process)?.source ?? 'time';
  const named = source === 'optimizer';
  if (failure.snapshot === null || source === 'time' || (!named && leak === null)) return null;
  if (failure.snapshot.step <= lastStep(failure)) return failure.snapshot.step;
  return named ? 1 : null;
}

/** Steps that came after it; the last round of a loop ends with the program, so one step more proves nothing. */
function stepsAfter({ process }: OutOfMemory, step: number | null, { steps }: TraceInfo): number {
  const more = step === null ? 0 : (steps.find(one => one.process === process)?.count ?? 0) - step;
  return more > 1 ? more : 0;
}

/** Whether the program caught it; null: not known. */
function gotOver(failure: OutOfMemory, index: number, info: TraceInfo): boolean | null {
  const exitCode = info.processes[failure.process]?.exitCode ?? null;
  const later = info.outOfMemory.slice(index + 1).some(isOf(failure.process, failure.layer));
  return exitCode === 0 || later || (exitCode === null ? null : false);
}

function withWentOn(detail: string, wentOn: boolean | null, steps: number): string {
  if (steps > 0) return t('{0}. The program continued for {1} steps', detail, formatCount(steps));
  return wentOn === true ? t('{0}. The program caught the error and continued', detail) : detail;
}

/** Why it is so, without a full stop. */
function causeText(
  { cause, failure, leak, after, limited, freeBytes: free, othersBytes, batch: grown, bigger }: Failed,
  source: TraceSource,
): string {
  const { snapshot } = failure;
  const { freeBytes, largestFreeBytes, emptyBytes } = snapshot?.fragmentation ?? NO_SEGMENTS;
  const [unused, gap] = [formatBytes(freeBytes), formatBytes(largestFreeBytes)];
  const steps = source.info().steps.find(({ process }) => process === failure.process);
  const enough = steps !== undefined && steps.source !== 'time' && areEnough(steps);
  // prettier-ignore
  const unknown = enough
    ? t('The program needs more memory at once than it can get. Growth cannot be judged, because no steps are marked')
    : t('The program needs more memory at once than it can get. Growth cannot be judged, because there were too few steps');
  const full =
    enough && steps.source === 'optimizer'
      ? t('The program needs more memory at once than it can get; no known leak explains it')
      : unknown;
  // prettier-ignore
  const leaked = leak !== null
    ? t('A leak filled the memory. {0}', leak.title)
    : t('Probably a leak: one line holds most of the memory, in blocks from nearly every step');
  // prettier-ignore
  const why = snapshot === null ? t('No further details were recorded') : (bigger ?? full);
  // prettier-ignore
  const stopped = t('PyTorch reached its memory limit: the GPU had {0} free, but PyTorch was not allowed to use it', formatBytes(free ?? 0));
  const batch = leak === null && after === null ? grown : null;
  // prettier-ignore
  const words: Record<OutOfMemoryCause, string> = {
    leak: after === null || leak !== null ? leaked : t('Memory rose by {0} after the last step, mostly at {1}', formatBytes(after.bytes), inSentence(after.line)),
    cache: t('PyTorch has {0} of unused memory in its cache, but only PyTorch can use it', formatBytes(emptyBytes)),
    limit: batch === null ? `${stopped}. ${why}` : stopped,
    fragmentation: t('The memory is fragmented: PyTorch has {0} of unused memory, but the largest gap is {1}', unused, gap),
    pools: poolTexts(privatePools(snapshot?.pools ?? [])).join('; '),
    'big-request': t('This is one unusually large allocation; everything else is at its normal level'),
    'other-process': t('Other processes use {0} of the GPU', formatBytes(othersBytes ?? 0)),
    full: why,
  };
  const found = limited && cause !== 'limit' ? `${words[cause]}. ${stopped}` : words[cause];
  return batch === null || cause === 'full' ? found : `${batch}. ${found}`;
}

/** Where the step allocates much more than those before; null: it does not. */
function biggerText(snapshot: MemorySnapshot, process: number, source: TraceSource): string | null {
  const steps = source.info().steps.find(one => one.process === process)?.source ?? 'time';
  // What was no part of the rounds of a loop before came after them, as a loss comes after layers.
  const known = newInStep(snapshot, source).filter(line => steps === 'optimizer' || line.usualBytes > 0);
  const odd = steps === 'time' ? [] : known;
  const [bytes, usual] = [sum(odd.map(line => line.bytes)), sum(odd.map(line => line.usualBytes))];
  if (snapshot.step <= T.few || bytes - usual < T.part * snapshot.tensorBytes) return null;
  const [now, before] = [formatBytes(bytes), formatBytes(usual)];
  if (usual === 0)
    return t('This step allocated more than earlier ones: {0} from call stacks that allocated nothing in them', now);
  return t(
    'This step allocated more than earlier ones: {0} from call stacks that usually allocate {1} per step',
    now,
    before,
  );
}

function newInStep(snapshot: MemorySnapshot | null, source: TraceSource): OutOfMemoryVerdict['newInStep'] {
  const rows = (snapshot?.sites ?? []).map(({ site, stepAllocatedBytes: bytes, usualAllocatedBytes: usualBytes }) => {
    return { site, line: siteText(source.site(site)), bytes, usualBytes };
  });
  const odd = rows.filter(({ bytes, usualBytes }) => bytes - usualBytes > T.most * Math.max(1, usualBytes));
  return odd.sort((a, b) => b.bytes - b.usualBytes - (a.bytes - a.usualBytes)).slice(0, LINES);
}

/** What PyTorch could have had at the failed allocation that a program ended with, or at least that; null: not known. */
export function limitAtEnd(source: TraceSource): number | null {
  const failure = lastFailure(source);
  return failure === null ? null : figuresOf(failure, roomOf(failure, source.info())).limitBytes;
}

/** The failed allocation that a program ended with; null: it ended otherwise, or runs. */
export function lastFailure(source: TraceSource): OutOfMemory | null {
  const info = source.info();
  const index = info.outOfMemory.findLastIndex(failure => !isRetried(failure, source));
  const failure = info.outOfMemory[index];
  if (failure === undefined || gotOver(failure, index, info) !== false) return null;
  const isTimed = info.steps.find(({ process }) => process === failure.process)?.source === 'time';
  return stepsAfter(failure, isTimed ? null : (failure.snapshot?.step ?? null), info) > 0 ? null : failure;
}

/** Where that was of the finding's memory, and it is known: what the finding holds is that of this moment, not of the last step's end. */
export function failureOf(
  source: TraceSource,
  { process, device, layer }: Pick<Finding, 'process' | 'device' | 'layer'>,
): (OutOfMemory & { snapshot: MemorySnapshot }) | null {
  const failure = lastFailure(source);
  if (failure === null || failure.snapshot === null || failure.layer !== layer) return null;
  return failure.process === process && failure.device === device ? { ...failure, snapshot: failure.snapshot } : null;
}

/** One finding for each line and cause of failure; a leak that led to it is in it, and is no finding of its own. */
export function failureFindings(failures: readonly JudgedFailure[], source: TraceSource): Finding[] {
  const findings = new Map<string, Finding>();
  const counted = failures.length === 0 ? null : countedText(source.info());
  for (const judged of failures) {
    const finding = failureFinding(judged, source);
    if (findings.has(finding.id)) finding.evidence.push(t('An allocation on this line had failed before.'));
    findings.set(finding.id, finding);
    if (counted !== null) finding.evidence.push(counted);
  }
  return [...findings.values()];
}

function failureFinding({ verdict, failure, leak }: JudgedFailure, source: TraceSource): Finding {
  const { process, device, layer, requestedBytes } = failure;
  const { cause, headline, detail, step: atStep, advice, noAdvice } = verdict;
  const gathering = cause === 'leak' ? failure.snapshot?.sites[0]?.site : undefined;
  const site = gathering ?? failure.site;
  const place = (leak === null ? placeOf(source, site) : null) ?? leak?.place ?? null;
  const own = { bytes: requestedBytes, count: 1, confidence: gathering === undefined ? 1 : 1 - T.part, sites: [site] };
  return makeFinding({
    ...(leak ?? { ...own, places: place === null ? [] : [place] }),
    ...{ verdict: 'oom', headline, detail, atStep },
    id: `oom ${process} ${cause} ${placeText(place)}`,
    ...{ cause, process, device, layer, place },
    evidence: [...aliveText(verdict), ...(leak?.evidence ?? [])],
    suggestion: noAdvice ?? adviceText(verdict, advice[0]),
    failure: verdict,
  });
}

/** With what it gives: the card has no other place for that. */
function adviceText(verdict: OutOfMemoryVerdict, advice: OutOfMemoryAdvice | undefined): string {
  return advice === undefined ? '' : t('{0} This {1}.', advice.text, savesText(advice, verdict, t));
}

function aliveText({ aliveByLine, newInStep: [odd] }: OutOfMemoryVerdict): string[] {
  const most = aliveByLine.slice(0, 3);
  const lines = most.map(one =>
    t('{0} in {1} at {2}', formatBytes(one.bytes), blocksText(one.count), inSentence(one.line)),
  );
  const alive = lines.length === 0 ? [] : [t('Live when it failed: {0}.', lines.join('; '))];
  if (odd === undefined) return alive;
  const [line, bytes, usual] = [inSentence(odd.line), formatBytes(odd.bytes), formatBytes(odd.usualBytes)];
  // prettier-ignore
  const text = t('One call stack of {0} allocated {1} in this step; it usually allocates {2} per step.', line, bytes, usual);
  return [...alive, text];
}
