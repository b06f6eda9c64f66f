import { groupBy } from '../groups';
import { t } from '@vscode/l10n';
import { formatBytes, formatCount } from '../../protocol/format';
import type { MemorySnapshot, SnapshotSite } from '../../protocol/steps';
import type { OutOfMemory, TraceInfo } from '../../protocol/trace';
import type { AfterSteps, Finding, OutOfMemoryCause, OutOfMemoryVerdict } from '../../protocol/verdicts';
import { fewestRecords } from '../series/records';
import { sum } from '../series/statistics';
import { THRESHOLDS as T } from '../series/thresholds';
import { titleOf } from './wording';

/** Lines listed of a failure. */
const LINES = 10;

export interface OutOfMemoryContext {
  info: TraceInfo;
  /** Leaks that were found. */
  leaks: readonly Finding[];
  /** What piled up behind the last step; null: nothing did. */
  after: AfterSteps | null;
  /** `train.py:41 forward`. */
  lineOf(site: number): string;
  /** A step in or before which it failed. */
  lastStep(failure: OutOfMemory): number;
}

type FailureWords = Pick<Finding, 'verdict' | 'headline' | 'detail' | 'atStep'>;

/** A failure, why it happened, and the leak that led to it. */
export interface JudgedFailure {
  verdict: OutOfMemoryVerdict;
  failure: OutOfMemory;
  leak: Finding | null;
  words: FailureWords;
  /** What to do; null: what is written of leaks. */
  advice: string | null;
}

/** Judges each failed allocation that a program could not get over. */
export function judgeFailures(context: OutOfMemoryContext): JudgedFailure[] {
  const { outOfMemory } = context.info;
  const known = new Set(outOfMemory.flatMap(failure => (failure.snapshot === null ? [] : [failure.site])));
  return outOfMemory.flatMap((failure, index) => {
    const isCounted = failure.snapshot === null && known.has(failure.site);
    return isCounted || isRetried(failure, outOfMemory, context.info) ? [] : [judgeFailure(failure, index, context)];
  });
}

/** One sentence where failures were only counted, else null. */
export function countedText({ outOfMemory, outOfMemoryCount }: TraceInfo): string | null {
  const kept = outOfMemory.filter(({ snapshot }) => snapshot !== null).length;
  if (outOfMemoryCount === kept || outOfMemoryCount <= 1) return null;
  return t(
    '{0} allocations did not fit: what was alive then is kept for {1}; the other {2} were only counted.',
    formatCount(outOfMemoryCount),
    formatCount(kept),
    formatCount(outOfMemoryCount - kept),
  );
}

/**
 * PyTorch asks the driver, and on failure empties its cache and asks again: what counts is whether the tensor could be
 * made. Where there is no tensor layer, the driver's word is final.
 */
function isRetried(failure: OutOfMemory, all: readonly OutOfMemory[], info: TraceInfo): boolean {
  if (failure.layer === 'tensor') return false;
  return (
    all.some(other => other.layer === 'tensor' && other.process === failure.process) ||
    info.totals.some(total => total.process === failure.process && total.layer === 'tensor' && total.allocations > 0)
  );
}

function judgeFailure(failure: OutOfMemory, index: number, context: OutOfMemoryContext): JudgedFailure {
  const { snapshot } = failure;
  const total = totalBytes(failure, context.info);
  const leak = leakBehind(failure, context.leaks);
  const after = pileBehind(failure, context.after);
  const cause = causeOf(failure, leak ?? after, total);
  const free = snapshot === null || total === null ? null : total - (snapshot.usedBytes ?? snapshot.driverBytes);
  const step = stepOf(failure, context);
  const { detail, advice } = causeWords(cause, failure, leak, after);
  const words: FailureWords = {
    verdict: 'oom',
    headline: t('{0} at {1} did not fit', formatBytes(failure.requestedBytes), context.lineOf(failure.site)),
    detail: wentOn(detail, failure, step, context),
    atStep: step,
  };
  const verdict: OutOfMemoryVerdict = {
    index,
    cause,
    title: titleOf({ ...words, processes: 1 }),
    step,
    freeBytes: free === null ? null : Math.max(0, free),
    largestFreeBytes: snapshot?.fragmentation.largestFreeBytes ?? null,
    reservedBytes: snapshot?.reservedBytes ?? null,
    aliveByLine: byLine(snapshot, context),
    aliveByCategory: snapshot?.categories ?? [],
    aliveByAge:
      snapshot === null
        ? null
        : { thisStep: snapshot.thisStepBytes, recent: snapshot.recentBytes, older: snapshot.olderBytes },
    newInStep: newInStep(snapshot, context),
  };
  return { verdict, failure, leak, words, advice };
}

function totalBytes(failure: OutOfMemory, info: TraceInfo): number | null {
  const known = failure.snapshot?.totalBytes ?? null;
  return known ?? info.devices.find(device => device.index === failure.device)?.totalBytes ?? null;
}

/** The leak on that device that holds most, when it holds enough to matter. */
function leakBehind(failure: OutOfMemory, leaks: readonly Finding[]): Finding | null {
  const candidates = leaks.filter(leak => leak.process === failure.process && leak.device === failure.device);
  const biggest = [...candidates].sort((a, b) => b.bytes - a.bytes)[0];
  return biggest !== undefined && matters(biggest, failure) ? biggest : null;
}

/** What piled up behind the last step, when it is enough to matter. */
function pileBehind(failure: OutOfMemory, after: AfterSteps | null): AfterSteps | null {
  return after !== null && after.process === failure.process && matters(after, failure) ? after : null;
}

/** It has a good part of what was alive. */
function matters({ bytes }: { bytes: number }, { snapshot, liveBytes }: OutOfMemory): boolean {
  return bytes >= T.part * (snapshot?.tensorBytes ?? liveBytes);
}

/** `grown`: what grew until nothing more fitted; null: nothing that is known. */
function causeOf(failure: OutOfMemory, grown: Finding | AfterSteps | null, total: number | null): OutOfMemoryCause {
  const { snapshot, requestedBytes } = failure;
  if (grown !== null) return 'leak';
  if (total !== null && requestedBytes >= T.most * total) return 'big-request';
  if (snapshot === null) return 'full';
  const unused = snapshot.fragmentation.freeBytes;
  if (unused >= requestedBytes && snapshot.fragmentation.largestFreeBytes < requestedBytes) {
    return 'fragmentation';
  }
  if (total !== null && snapshot.usedBytes !== null && snapshot.processBytes !== null) {
    if (snapshot.usedBytes - snapshot.processBytes >= T.part * total) return 'other-process';
  }
  if (gathering(snapshot)) return 'leak';
  const usual = snapshot.sites.find(site => site.site === failure.site)?.usualAllocatedBytes ?? 0;
  if (usual > 0 && requestedBytes >= T.times * usual) return 'big-request';
  return 'full';
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

/** Null: not known. Before the first step of an optimizer ended, slices of time were counted, and these were more. */
function stepOf(failure: OutOfMemory, { info, lastStep }: OutOfMemoryContext): number | null {
  const source = info.steps.find(({ process }) => process === failure.process)?.source ?? 'time';
  if (failure.snapshot === null || source === 'time') return null;
  if (failure.snapshot.step <= lastStep(failure)) return failure.snapshot.step;
  return source === 'optimizer' ? 1 : null;
}

/** Where the program caught it; the last round of a loop ends with the program, so one step more tells nothing. */
function wentOn(detail: string, { process }: OutOfMemory, step: number | null, { info }: OutOfMemoryContext): string {
  const count = info.steps.find(steps => steps.process === process)?.count ?? 0;
  const more = step === null ? 0 : count - step;
  return more > 1 ? t('{0}. The program went on for {1} steps', detail, formatCount(more)) : detail;
}

/** Why it is so, without a full stop, and what to do. */
function causeWords(
  cause: OutOfMemoryCause,
  { snapshot }: OutOfMemory,
  leak: Finding | null,
  after: AfterSteps | null,
) {
  const { freeBytes, largestFreeBytes } = snapshot?.fragmentation ?? { freeBytes: 0, largestFreeBytes: 0 };
  const [unused, gap] = [formatBytes(freeBytes), formatBytes(largestFreeBytes)];
  const others = formatBytes((snapshot?.usedBytes ?? 0) - (snapshot?.processBytes ?? 0));
  const words: Record<OutOfMemoryCause, { detail: string; advice: string | null }> = {
    leak: {
      detail:
        leak !== null
          ? t('A leak filled the memory: {0}', leak.title)
          : after !== null
            ? t('Memory rose by {0} after the last step, most at {1}', formatBytes(after.bytes), after.line)
            : t('A leak filled the memory: one line holds most of it, and allocated it step by step'),
      advice: leak === null && after !== null ? afterAdvice() : (leak?.suggestion ?? null),
    },
    fragmentation: {
      detail: t('It is fragmentation: PyTorch’s cache has {0} unused, but no gap is bigger than {1}', unused, gap),
      advice: fragmentationAdvice(),
    },
    'big-request': {
      detail: t('It is one big request: what else is alive is no more than usual'),
      advice: t('Make this one allocation smaller: a smaller batch, shorter inputs, or the work in parts.'),
    },
    'other-process': {
      detail: t('Other processes hold {0} of the device', others),
      advice: t('Other processes use this GPU: end them, or choose another (`CUDA_VISIBLE_DEVICES`).'),
    },
    full: {
      detail:
        snapshot === null
          ? t('Nothing more is known about that moment')
          : t('The program needs that much at once: nothing grows from step to step'),
      advice: t('The step needs more than there is: a smaller batch, checkpointed activations, or lower precision.'),
    },
  };
  return words[cause];
}

function afterAdvice(): string {
  return t(
    'Where no gradients are needed, as in an evaluation, work under `with torch.no_grad():`, and move the tensors that are kept to the CPU (`.cpu()`).',
  );
}

export function fragmentationAdvice(): string {
  return t(
    'Let segments grow instead of being cut up: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, or use fewer different sizes.',
  );
}

function byLine(snapshot: MemorySnapshot | null, context: OutOfMemoryContext): OutOfMemoryVerdict['aliveByLine'] {
  const lines = groupBy(snapshot?.sites ?? [], ({ site }) => context.lineOf(site));
  const rows = [...lines].map(([line, sites]) => ({
    site: sites[0]?.site ?? -1,
    line,
    bytes: sum(sites.map(({ liveBytes }) => liveBytes)),
    count: sum(sites.map(({ liveCount }) => liveCount)),
  }));
  return rows.sort((a, b) => b.bytes - a.bytes).slice(0, LINES);
}

function newInStep(snapshot: MemorySnapshot | null, context: OutOfMemoryContext): OutOfMemoryVerdict['newInStep'] {
  const more = (site: SnapshotSite): number => site.stepAllocatedBytes - site.usualAllocatedBytes;
  return (snapshot?.sites ?? [])
    .filter(site => more(site) > T.most * Math.max(1, site.usualAllocatedBytes))
    .sort((a, b) => more(b) - more(a))
    .slice(0, LINES)
    .map(site => ({
      site: site.site,
      line: context.lineOf(site.site),
      bytes: site.stepAllocatedBytes,
      usualBytes: site.usualAllocatedBytes,
    }));
}
