// Counts in words. One and many are whole texts: languages differ in more than an ending.
import { t } from '@vscode/l10n';
import { newestSteps, type TraceInfo } from '../../../extension/protocol/trace';
import { formatCount } from '../../../extension/text/format';

type Steps = Pick<TraceInfo, 'steps' | 'outOfMemory'>;

export function blocksText(count: number): string {
  return count === 1 ? t('1 block') : t('{0} blocks', formatCount(count));
}

export function liveBlocksText(count: number): string {
  return count === 1 ? t('1 live block') : t('{0} live blocks', formatCount(count));
}

/** `3 steps`, or `this step`. */
export function stepsText(ageSteps: number): string {
  if (ageSteps === 0) return t('this step');
  return ageSteps === 1 ? t('1 step') : t('{0} steps', formatCount(ageSteps));
}

/** The last step that has ended, of the process that is farthest, or the later one that an allocation failed in; '' where no step is known. */
export function lastStepText(info: Steps): string {
  const { source = 'time', count = 0 } = newestSteps(info) ?? {};
  return stepText(source === 'time' ? null : Math.max(count, failedStep(info, 0, Infinity)));
}

/** The last step that an allocation failed in, of those that failed in a time (ns); 0: none did, or in no known step. */
export function failedStep({ outOfMemory, steps }: Steps, fromNs: number, toNs: number): number {
  const counted = steps.filter(({ source }) => source !== 'time').map(({ process }) => process);
  const failed = outOfMemory.filter(({ process, timeNs }) => {
    return counted.includes(process) && timeNs >= fromNs && timeNs <= toNs;
  });
  return Math.max(0, ...failed.map(({ snapshot }) => snapshot?.step ?? 0));
}

/** `step 12`; '' where it is not known, or none has ended. */
export function stepText(step: number | null): string {
  return step === null || step === 0 ? '' : t('step {0}', formatCount(step));
}

/** `2 matches, 3.00 MB` */
export function matchesText(count: number, bytes: string): string {
  return count === 1 ? t('1 match, {0}', bytes) : t('{0} matches, {1}', formatCount(count), bytes);
}

export function timesSeenText(count: number): string {
  return count === 1 ? t('seen 1 time') : t('seen {0} times', formatCount(count));
}

export function eventsLostText(count: number): string {
  return count === 1 ? t('1 dropped event') : t('{0} dropped events', formatCount(count));
}

export function notesText(count: number): string {
  return count === 1 ? t('1 note') : t('{0} notes', formatCount(count));
}
