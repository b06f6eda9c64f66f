// Pieces of sentences. One and many are whole texts: languages differ in more than an ending.
import { t } from '@vscode/l10n';
import type { Pass } from '../protocol/answers.gen';
import { filterProblem } from '../text/filterWords';
import { formatBytes, formatCount, formatDuration, lineName } from '../text/format';
import { shareText } from '../text/holderShare';
import { isSinceSure } from '../text/pace';
import type { FindingHolder, FindingPlace } from '../protocol/verdicts';
import { vocabulary } from '../text/vocabulary';

export const WORDS = vocabulary(t);

/** What a program did, as a part of a sentence. */
export const WITHIN: Record<Pass, string> = {
  other: t(' outside any module'),
  forward: t(' in the forward pass'),
  evaluation: t(' in a forward pass under no_grad'),
  backward: t(' in the backward pass'),
  optimizer: t(' during optimizer.step()'),
};

/** Those of the texts that hold. */
export function thatHold(texts: readonly (readonly [holds: boolean, text: string])[]): string[] {
  return texts.flatMap(([holds, text]) => (holds ? [text] : []));
}

export function blocksText(count: number): string {
  return count === 1 ? t('1 block') : t('{0} blocks', formatCount(count));
}

export function tensorsText(count: number): string {
  return count === 1 ? t('1 tensor') : t('{0} tensors', formatCount(count));
}

export function moreBlocksText(count: number): string {
  return count === 1 ? t('1 more block') : t('{0} more blocks', formatCount(count));
}

export function moreTensorsText(count: number): string {
  return count === 1 ? t('1 more tensor') : t('{0} more tensors', formatCount(count));
}

export function stepsText(count: number): string {
  return count === 1 ? t('1 step') : t('{0} steps', formatCount(count));
}

/** `1 MiB per step, since step 12` */
export function rateText(bytesPerStep: number, sinceStep: number): string {
  return withSince(t('{0} per step', formatBytes(bytesPerStep)), sinceStep);
}

/** The text, with the step since which it holds, where that is sure. */
export function withSince(text: string, sinceStep: number): string {
  return isSinceSure(sinceStep) ? t('{0}, since step {1}', text, formatCount(sinceStep)) : text;
}

/** When it grows: `every step`, `about every 20 steps`. */
export function howOftenText(period: number): string {
  const steps = Math.round(period);
  return steps > 1 ? t('about every {0} steps', steps) : t('every step');
}

/** `train.py:41`, or a word for memory without a Python line. */
export function placeText(place: Pick<FindingPlace, 'file' | 'line'> | null): string {
  return lineName(place) ?? t('no Python line');
}

/** `cache (120 items) at train.py:6`. */
export function holderText(holder: FindingHolder): string {
  const { length, asked: whenSeen } = holder;
  const path = holder.path.replace(/^cycle of /, 'a reference cycle of ');
  const items = length === 1 ? t('1 item') : t('{0} items', formatCount(length ?? 0));
  const counted = length === null ? path : `${path} (${whenSeen ? t('{0} when found', items) : items})`;
  const line = lineName(holder);
  return line === null ? counted : t('{0} at {1}', counted, line);
}

/** `It holds 20 of 60 blocks. …`, and the other holders; null: it holds all, and no other does. */
export const shareOf = (holder: FindingHolder): string | null => shareText(holder, t);

/** What is wrong with a filter, in one sentence; '': nothing. */
export const filterProblemOf = (filter: string): string => filterProblem(filter, t);

/** `The holder was found 12.30 s into the run. …` */
export function seenText({ timeNs, pauseMs }: NonNullable<FindingHolder['asked']>): string {
  const at = formatDuration(timeNs);
  return t(
    'The holder was found {0} into the run. The search paused the program for {1} ms.',
    at,
    formatCount(Math.ceil(pauseMs)),
  );
}
