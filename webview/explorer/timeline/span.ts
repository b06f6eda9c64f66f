// A selected span of the run: made and changed by mouse and keys, and what can be shown of it.
import { t } from '@vscode/l10n';
import { formatCount, formatDuration } from '../../../extension/text/format';
import { spanText as textOf } from '../../../extension/text/spanText';
import type { EndMoment, Moment } from '../../../extension/protocol/requests/moment';
import { lastStep, recordedEnd, stepAt } from '../../../extension/protocol/requests/stepTimes';
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import type { TimeWindow } from '../state/zoom';

export type Span = TimeWindow;
/** What a moment's rows are, in words: a title. */
export interface TitledMoment {
  moment: Moment;
  title: string;
}

/** The tenth of the window. */
const PAGE_PART = 0.1;
const KEY_PART = 0.02;
/** By a step, or a fiftieth of the window where there are none; or by a page. */
export type KeyMove = 1 | -1 | 'page-on' | 'page-back';
/** Where keys lead from the shown moment. */
export type MomentMove = KeyMove | 'first' | 'last';

/** The first span that the keys make: the step of a moment, or that in the middle of the window; without steps a tenth of it. */
export function firstSpan({ fromNs, toNs }: TimeWindow, atNs: number | null, steps: StepTimes | null): Span {
  if (steps && lastStep(steps) > 0) {
    const step = Math.min(stepAt(steps, atNs ?? (fromNs + toNs) / 2), lastStep(steps));
    return { fromNs: recordedEnd(steps, step - 1, false) ?? fromNs, toNs: recordedEnd(steps, step, true) ?? toNs };
  }
  const length = (toNs - fromNs) * PAGE_PART;
  const from = Math.max(fromNs, Math.min(atNs ?? (fromNs + toNs - length) / 2, toNs - length));
  return { fromNs: from, toNs: from + length };
}

/** The time of the moment that a key leads to: recorded ends of steps, or parts of the window; null: now. `atNs` null: from now. */
export function moveMoment(
  atNs: number | null,
  window: TimeWindow,
  to: MomentMove,
  steps: StepTimes | null,
  nowNs: number,
): number | null {
  if (!steps || lastStep(steps) === 0) {
    if (to === 'first' || to === 'last') return to === 'first' ? 0 : null;
    const time = (atNs ?? nowNs) + partByKey(to) * (window.toNs - window.fromNs);
    return time >= nowNs ? null : Math.max(time, 0);
  }
  const last = lastStep(steps);
  if (to === 'first' || to === 'last') return recordedEnd(steps, to === 'first' ? 1 : last, true);
  const at = atNs === null ? last + 1 : stepAt(steps, atNs);
  // Within a step, the next moment is its end.
  const ended = atNs !== null && Math.floor(recordedEnd(steps, at, true) ?? Infinity) <= atNs;
  const by = stepsByKey(to, window, steps);
  const step = at + by - (by > 0 && !ended ? 1 : 0);
  if (step > last) return null;
  const first = recordedEnd(steps, 1, true) ?? 0;
  return Math.max(recordedEnd(steps, step, by > 0) ?? 0, Math.min(first, atNs ?? first));
}

/** The same among the only moments that can be shown. */
export function moveAmong(atNs: number | null, moments: readonly number[], to: MomentMove): number | null {
  if (to === 'first' || to === 'last') return moments.at(to === 'first' ? 0 : -1) ?? null;
  const forward = partByKey(to) > 0;
  if (atNs === null) return forward ? null : (moments.at(-1) ?? null);
  const next = forward ? moments.find(one => one > atNs) : moments.findLast(one => one < atNs);
  return next ?? (forward ? null : (moments[0] ?? null));
}

function partByKey(move: KeyMove): number {
  return typeof move === 'number' ? move * KEY_PART : move === 'page-on' ? PAGE_PART : -PAGE_PART;
}

/** A page has one step at least. */
function stepsByKey(move: KeyMove, window: TimeWindow, steps: StepTimes): number {
  if (typeof move === 'number') return move;
  const inWindow = stepAt(steps, window.toNs) - stepAt(steps, window.fromNs);
  return Math.sign(partByKey(move)) * Math.max(1, Math.round(inWindow * PAGE_PART));
}

/** Moves the end, or the whole span. */
export function nudge(span: Span, window: TimeWindow, move: KeyMove, whole: boolean, steps: StepTimes | null): Span {
  if (steps) return nudgeSteps(span, stepsByKey(move, window, steps), whole, steps);
  const by = partByKey(move) * (window.toNs - window.fromNs);
  const moved = whole ? { fromNs: span.fromNs + by, toNs: span.toNs + by } : { ...span, toNs: span.toNs + by };
  const length = span.toNs - span.fromNs;
  if (moved.fromNs < window.fromNs) return { fromNs: window.fromNs, toNs: whole ? window.fromNs + length : moved.toNs };
  if (moved.toNs > window.toNs) return { fromNs: whole ? window.toNs - length : moved.fromNs, toNs: window.toNs };
  return moved.toNs > moved.fromNs ? moved : span;
}

function nudgeSteps(span: Span, by: number, whole: boolean, steps: StepTimes): Span {
  const [first, last] = [stepAt(steps, span.fromNs + 1), Math.min(stepAt(steps, span.toNs), lastStep(steps))];
  const from = whole ? Math.min(Math.max(first + by, 1), lastStep(steps) - (last - first)) : first;
  const to = Math.min(Math.max(whole ? from + (last - first) : last + by, from), lastStep(steps));
  const up = by > 0;
  return {
    fromNs: recordedEnd(steps, from - 1, up && whole) ?? span.fromNs,
    toNs: recordedEnd(steps, to, up || to === from) ?? span.toNs,
  };
}

/** From one place to another, whichever comes first. */
export function between(a: number, b: number): Span {
  return { fromNs: Math.min(a, b), toNs: Math.max(a, b) };
}

/** Widened to whole steps; the step that runs ends now. */
export function toSteps(span: Span, steps: StepTimes | null, nowNs: number): Span {
  if (!steps) return span;
  const first = Math.min(stepAt(steps, span.fromNs + 1), lastStep(steps) + 1);
  const fromNs = recordedEnd(steps, first - 1, false) ?? span.fromNs;
  return { fromNs, toNs: recordedEnd(steps, stepAt(steps, span.toNs), true) ?? Math.max(nowNs, span.toNs) };
}

/** `steps 300–340`, `step 7`, or `12.30 s – 15.00 s`. */
export const spanText = (span: Span, steps: StepTimes | null): string => textOf(span, steps, t);

/** A step has a name once it has ended: behind the last one there need not be another. */
function isInStep(timeNs: number, steps: StepTimes | null): steps is StepTimes {
  return steps !== null && stepAt(steps, timeNs) <= lastStep(steps);
}

/** The step that ran at a time; null: it has no name, or none is known. */
export function stepIn(timeNs: number, steps: StepTimes | null): number | null {
  return isInStep(timeNs, steps) ? stepAt(steps, timeNs) : null;
}

/** `step 340`, or `12.30 s`. */
export function timeText(timeNs: number, steps: StepTimes | null): string {
  const step = stepIn(timeNs, steps);
  return step === null ? formatDuration(timeNs) : t('step {0}', step);
}

/** `step 7`; `steps 7–9`, or two times, where the peak is known no better. */
export function peakText({ fromNs, toNs }: Span, steps: StepTimes | null): string {
  return fromNs === toNs ? timeText(toNs, steps) : spanText({ fromNs, toNs }, steps);
}

/** The same behind `at the peak`: `in step 7`, `after step 80` where no step followed; '' where steps are not known. */
export function peakPlace(peak: Span, steps: StepTimes | null): string {
  if (steps === null || lastStep(steps) === 0) return '';
  if (isInStep(peak.toNs, steps)) return t('in {0}', peakText(peak, steps));
  return t('after step {0}', formatCount(lastStep(steps)));
}

/** What was alive at a time, as the tooltip there names it; `ended`: it is the end of a step. */
export function aliveAt(timeNs: number, steps: StepTimes | null, ended: boolean): TitledMoment {
  if (ended || !steps) return aliveAtEnd({ fromNs: timeNs, toNs: timeNs }, steps);
  const at = [...new Set([timeText(timeNs, steps), formatDuration(timeNs)])].join(' · ');
  return { moment: { kind: 'at', timeNs: Math.floor(timeNs) }, title: t('Live at {0}', at) };
}

/**
 * Allocated in the span and still alive now; of a program that freed nearly everything when it ended, at the moment before that. A time that
 * is the end of the step before is not in it.
 */
export function bornIn(span: Span, steps: StepTimes | null, ending: EndMoment | null): TitledMoment {
  const fromNs = span.fromNs > 0 ? Math.floor(span.fromNs) + 1 : 0;
  const born = { kind: 'born', fromNs, toNs: Math.max(Math.floor(span.toNs), fromNs) } as const;
  const text = spanText(span, steps);
  if (ending === null || fromNs > ending.timeNs) return { moment: born, title: t('From {0}, still live', text) };
  const title = t('From {0}, still live {1}', text, ending.when);
  return { moment: { ...born, atNs: ending.timeNs }, title };
}

export function aliveAtEnd(span: Span, steps: StepTimes | null): TitledMoment {
  const at = isInStep(span.toNs, steps)
    ? t('the end of step {0}', stepAt(steps, span.toNs))
    : formatDuration(span.toNs);
  return { moment: { kind: 'at', timeNs: Math.floor(span.toNs) }, title: t('Live at {0}', at) };
}
