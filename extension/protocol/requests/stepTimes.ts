// Which step runs at a time, and when a step ends.
import { firstWhere } from '../../base/bisect';
import type { StepTimes } from './timelineRequests';

/** The step that runs at a time, from 1; behind the last end it is the next one. */
export function stepAt(axis: StepTimes, timeNs: number): number {
  const i = firstFrom(axis.endNs, timeNs);
  if (i === axis.endNs.length) return lastStep(axis) + 1;
  const begin = axis.endNs[i - 1] ?? 0;
  const [first, last, end] = [axis.first[i]!, axis.last[i]!, axis.endNs[i]!];
  const part = end > begin ? (timeNs - begin) / (end - begin) : 1;
  return Math.min(last, Math.max(first, first + Math.ceil(part * (last - first + 1)) - 1));
}

/** Where a step ends on the axis (ns): where it ended if it has a point of its own, else about there; null while it runs. 0 for step 0. */
export function endOfStep(axis: StepTimes, step: number): number | null {
  if (step <= 0) return 0;
  const i = firstFrom(axis.last, step);
  if (i === axis.last.length) return null;
  const begin = axis.endNs[i - 1] ?? 0;
  const [first, last, end] = [axis.first[i]!, axis.last[i]!, axis.endNs[i]!];
  return begin + ((end - begin) * (step - first + 1)) / (last - first + 1);
}

/**
 * An end of a step as it was recorded (ns). Of steps that are recorded as one only the last has one: `up`, that one is taken, else
 * the one before. Null while the step runs; 0 for the begin of the run.
 */
export function recordedEnd(axis: StepTimes, step: number, up: boolean): number | null {
  if (step <= 0) return 0;
  const i = firstFrom(axis.last, step);
  if (i === axis.last.length) return null;
  return up || axis.last[i] === step ? axis.endNs[i]! : (axis.endNs[i - 1] ?? 0);
}

/** The last step that ended. */
export function lastStep(axis: StepTimes): number {
  return axis.last[axis.last.length - 1] ?? 0;
}

/** Index of the first value that is not below. */
function firstFrom(values: Float64Array, least: number): number {
  return firstWhere(values.length, at => values[at]! >= least);
}
