// Steps on the timeline's axis: which step runs at a time, when a step ends, where its labels stand.
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import type { TimeWindow } from '../state/zoom';
import { firstWhere } from '../../../extension/base/bisect';
import { roundStep, type Tick } from './ticks';

/** The step that runs at a time, from 1; behind the last end it is the next one. */
export function stepAt(axis: StepTimes, timeNs: number): number {
  const i = firstFrom(axis.endNs, timeNs);
  if (i === axis.endNs.length) return lastStep(axis) + 1;
  const begin = axis.endNs[i - 1] ?? 0;
  const [first, last, end] = [axis.first[i]!, axis.last[i]!, axis.endNs[i]!];
  const part = end > begin ? (timeNs - begin) / (end - begin) : 1;
  return Math.min(last, Math.max(first, first + Math.ceil(part * (last - first + 1)) - 1));
}

/** When a step ended (ns): exactly where it has a point of its own; null while it runs. 0 for step 0. */
export function endOfStep(axis: StepTimes, step: number): number | null {
  if (step <= 0) return 0;
  const i = firstFrom(axis.last, step);
  if (i === axis.last.length) return null;
  const begin = axis.endNs[i - 1] ?? 0;
  const [first, last, end] = [axis.first[i]!, axis.last[i]!, axis.endNs[i]!];
  return begin + ((end - begin) * (step - first + 1)) / (last - first + 1);
}

/** The last step that ended. */
export function lastStep(axis: StepTimes): number {
  return axis.last[axis.last.length - 1] ?? 0;
}

/** Labels at round steps, at most `most`; marks at the other steps where they are `markGapNs` apart. */
export function stepTicks(axis: StepTimes, window: TimeWindow, most: number, markGapNs: number): Tick[] {
  const [from, to] = [stepAt(axis, window.fromNs), Math.min(stepAt(axis, window.toNs), lastStep(axis))];
  if (to < from) return [];
  const every = roundStep((to - from + 1) / Math.max(most, 1));
  const labelGapNs = (window.toNs - window.fromNs) / Math.max(most, 1) / 2;
  const marks = (window.toNs - window.fromNs) / (to - from + 1) >= markGapNs;
  const ticks: Tick[] = [];
  let labelled = -Infinity;
  for (let step = marks ? from : Math.ceil(from / every) * every; step <= to; step += marks ? 1 : every) {
    const value = endOfStep(axis, step);
    if (value === null || value < window.fromNs || value > window.toNs) continue;
    const hasLabel = step % every === 0 && value - labelled >= labelGapNs;
    if (hasLabel) labelled = value;
    if (hasLabel || marks) ticks.push({ value, label: hasLabel ? `${step}` : '' });
  }
  return ticks;
}

/** Index of the first value that is not below. */
function firstFrom(values: Float64Array, least: number): number {
  return firstWhere(values.length, at => values[at]! >= least);
}
