// Where the labels of steps stand on the timeline's axis.
import type { StepTimes } from '../../../extension/protocol/requests/timelineRequests';
import type { TimeWindow } from '../state/zoom';
import { endOfStep, lastStep, stepAt } from '../../../extension/protocol/requests/stepTimes';
import { roundStep, type Tick } from './ticks';

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
